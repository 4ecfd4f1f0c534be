/* Keys of clients. */
#include "server/service/keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 256
#define KEYS_MAX 64

/* Padded with NUL, so that all comparisons look at the same number of bytes. */
struct key {
    char bytes[KEY_BYTES];
};

struct keys {
    pthread_mutex_t mutex;
    size_t count;
    struct key list[KEYS_MAX];
};

struct keys *keys_new(void)
{
    struct keys *keys = calloc(1, sizeof *keys);
    if (keys)
        pthread_mutex_init(&keys->mutex, NULL);
    return keys;
}

void keys_free(struct keys *keys)
{
    if (!keys)
        return;
    pthread_mutex_destroy(&keys->mutex);
    explicit_bzero(keys, sizeof *keys);
    free(keys);
}

static bool set_key(struct key *key, const char *text, size_t length)
{
    if (length >= KEY_BYTES)
        return false;
    memset(key, 0, sizeof *key);
    memcpy(key->bytes, text, length);
    return true;
}

static bool fail(char *why, size_t size, const char *path, const char *reason)
{
    snprintf(why, size, "the key file %s: %s", path, reason);
    return false;
}

static bool is_visible(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < 0x21 || text[i] > 0x7e)
            return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A second word is no remark: half a key must not open anything. */
static bool read_line(struct keys *read, const char *line, size_t length, const char *path, char *why, size_t size)
{
    const char *key = line + strspn(line, " \t");
    size_t end = length;
    while (end > 0 && is_blank(line[end - 1]))
        end--;
    if (*key == '#' || key >= line + end)
        return true;
    if (!is_visible(key, (size_t)(line + end - key)))
        return fail(why, size, path, "a key has a blank or another byte that is not visible ASCII");
    if (read->count == KEYS_MAX)
        return fail(why, size, path, "it has more than 64 keys");
    return set_key(&read->list[read->count++], key, (size_t)(line + end - key)) ||
           fail(why, size, path, "a key is longer than 255 bytes");
}

static bool read_lines(FILE *file, struct keys *read, const char *path, char *why, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    for (ssize_t length = 0; good && (length = getline(&line, &room, file)) >= 0;)
        good = read_line(read, line, (size_t)length, path, why, size);
    if (good && ferror(file))
        good = fail(why, size, path, strerror(errno));
    if (line)
        explicit_bzero(line, room);
    free(line);
    return good && (read->count > 0 || fail(why, size, path, "it has no key"));
}

static void take_keys(struct keys *keys, const struct keys *read)
{
    pthread_mutex_lock(&keys->mutex);
    memcpy(keys->list, read->list, sizeof keys->list);
    keys->count = read->count;
    pthread_mutex_unlock(&keys->mutex);
}

bool keys_load(struct keys *keys, const char *path, char *why, size_t size)
{
    FILE *file = fopen(path, "re");
    struct keys *read = keys_new();
    if (!file || !read) {
        fail(why, size, path, file ? "no memory" : strerror(errno));
        if (file)
            fclose(file);
        keys_free(read);
        return false;
    }
    bool good = read_lines(file, read, path, why, size);
    fclose(file);
    if (good)
        take_keys(keys, read);
    keys_free(read);
    return good;
}

static unsigned compare(const struct key *a, const struct key *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < KEY_BYTES; i++)
        difference |= (unsigned char)(a->bytes[i] ^ b->bytes[i]);
    return difference;
}

/* Looks at every key, found or not. */
static bool find_key(struct keys *keys, const struct key *shown)
{
    unsigned found = 0;
    pthread_mutex_lock(&keys->mutex);
    for (size_t i = 0; i < keys->count; i++)
        found |= compare(&keys->list[i], shown) == 0;
    bool open = keys->count == 0;
    pthread_mutex_unlock(&keys->mutex);
    return open || found;
}

bool keys_check(struct keys *keys, const char *authorization, const char *api_key)
{
    struct key shown = {0};
    const char *text = api_key;
    if (authorization && strncasecmp(authorization, "Bearer ", 7) == 0)
        text = authorization + 7 + strspn(authorization + 7, " ");
    if (text)
        set_key(&shown, text, strlen(text));
    return find_key(keys, &shown);
}
