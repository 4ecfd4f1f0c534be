/* The schema validator that the tests of api have, here too. */
#include "tests/api/validator.c"
