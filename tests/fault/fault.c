/* Allocation functions that fail on demand, in place of those that the program's own objects call (ld --wrap), and for
 * jansson. What other libraries allocate does not count. */
#include "tests/fault/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *data, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *data, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);

static struct fault_page *page;

/* Before main, so that the first allocation counts. */
__attribute__((constructor)) static void open_page(void)
{
    const char *path = getenv(FAULT_FILE);
    int descriptor = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped =
        descriptor < 0 ? MAP_FAILED : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor >= 0)
        close(descriptor);
    if (mapped == MAP_FAILED)
        return;
    page = mapped;
    json_set_alloc_funcs(__wrap_malloc, free);
}

/* Whether this one fails. */
static bool fails(void)
{
    if (!page || atomic_load(&page->left) < 0)
        return false;
    if (atomic_fetch_sub(&page->left, 1) > 0)
        return false;
    atomic_store(&page->left, atomic_load(&page->lasts) ? 0 : -1);
    atomic_fetch_add(&page->count, 1);
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *data, size_t size)
{
    return fails() ? NULL : __real_realloc(data, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}
/* NOLINTEND(bugprone-reserved-identifier) */
