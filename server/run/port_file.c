/* The port in a file. */
#include "server/run/port_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

static bool fail(char *why, size_t size, const char *path, const char *reason)
{
    snprintf(why, size, "--port-file %s: %s", path, reason);
    return false;
}

static void name_beside(const char *path, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s.new", path);
}

/* Renaming replaces whatever is there: for root also /dev/full. */
static bool check_kind(const char *path, char *why, size_t size)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || fail(why, size, path, strerror(errno));
    return S_ISREG(status.st_mode) || fail(why, size, path, "there is something that is no regular file");
}

bool port_file_prepare(const char *path, unsigned port, char *why, size_t size)
{
    char beside[PATH_SIZE];
    if (!*path)
        return true;
    name_beside(path, beside);
    if (!check_kind(path, why, size) || !check_kind(beside, why, size))
        return false;
    FILE *file = fopen(beside, "we");
    bool written = file && fprintf(file, "%u\n", port) > 0;
    if (file && fclose(file) != 0)
        written = false;
    return written || fail(why, size, path, strerror(errno));
}

bool port_file_publish(const char *path, char *why, size_t size)
{
    char beside[PATH_SIZE];
    if (!*path)
        return true;
    name_beside(path, beside);
    if (check_kind(path, why, size) && (rename(beside, path) == 0 || fail(why, size, path, strerror(errno))))
        return true;
    unlink(beside);
    return false;
}
