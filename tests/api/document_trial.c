/* Reading documents for the tests. */
#include "tests/api/document_trial.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct trial trial;

const char *trial_valid(void)
{
    return "{\"id\":\"caf\xc3\xa9 \\u00e9\\n\",\"q\":[[1,-2.5e-3],[3,4]],\"mask\":{\"allow\":[[true,false]],"
           "\"bias\":[[null,\"-Infinity\"],[0,-0]],\"window\":{\"left\":3}},\"tokens\":[\"a\",\"b\"],"
           "\"bad\":[1,\"x\",{\"y\":[1,2]},[]],\"scale\":0.5}";
}

void trial_setup(void)
{
    trial = (struct trial){0};
}

void trial_teardown(void)
{
    document_free(&trial.document);
    arena_free(trial.arena);
}

struct trial *trial_now(void)
{
    return &trial;
}

bool trial_read_within(const char *text, size_t length, size_t limit)
{
    trial_teardown();
    trial = (struct trial){.arena = arena_new(limit), .cancel = trial.cancel};
    ck_assert_ptr_nonnull(trial.arena);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    bool good = document_read(&trial.document, copy, length, (struct read_context){.cancel = trial.cancel}, trial.arena,
                              &trial.err);
    free(copy);
    ck_assert(good == (trial.err.code == ERROR_NONE));
    return good;
}

bool trial_read_bytes(const char *text, size_t length)
{
    return trial_read_within(text, length, 512 * MIB);
}

bool trial_read(const char *text)
{
    return trial_read_bytes(text, strlen(text));
}
