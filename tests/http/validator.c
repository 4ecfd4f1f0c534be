/* The schema validator that the tests of api have, here too: the two programs share no objects. */
#include "tests/api/validator.c" // NOLINT(bugprone-suspicious-include)
