/* Names of requests. */
#include "server/http/request_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t seeded = PTHREAD_ONCE_INIT;
static uint64_t seed;
static atomic_uint_fast64_t count;

static void make_seed(void)
{
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
}

/* The finalizer of MurmurHash3: a bijection, so names of one process never repeat. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static void make_name(char *out)
{
    pthread_once(&seeded, make_seed);
    uint64_t number = mix(seed + atomic_fetch_add_explicit(&count, 1, memory_order_relaxed));
    for (int i = 0; i < 16; i++, number >>= 4)
        out[i] = "0123456789abcdef"[number & 15];
    out[16] = '\0';
}

void request_id_set(char out[REQUEST_ID_SIZE], const char *sent)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = sent ? strnlen(sent, REQUEST_ID_SIZE) : 0;
    if (length == 0 || length == REQUEST_ID_SIZE || strspn(sent, plain) != length) {
        make_name(out);
        return;
    }
    memcpy(out, sent, length + 1);
}
