/* OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so another kernel needs another start. */
#include "server/machine/kernel.h"

#include "core/tensor/blas.h"
#include "core/tensor/blas_kernel.h"
#include "server/config/version.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "/proc/self/exe"
#define CORE "OPENBLAS_CORETYPE"
#define CHECK "check" /* value of VERSION_KERNEL_VARIABLE in a process that only checks */
#define CHECK_SECONDS 10

/* The child: this program with the kernel, to see whether it is right. A kernel that does not fit may crash. */
static void become_check(const char *kernel)
{
    char *const arguments[] = {(char *)"attentiond", NULL};
    alarm(CHECK_SECONDS);
    setenv(CORE, kernel, 1);
    setenv(VERSION_KERNEL_VARIABLE, CHECK, 1);
    execv(PROGRAM, arguments);
    _exit(EXIT_FAILURE);
}

static bool is_right(const char *kernel)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        become_check(kernel);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static void start_again(char **argv, const char *kernel)
{
    setenv(VERSION_KERNEL_VARIABLE, blas_core(), 1);
    setenv(CORE, kernel, 1);
    execv(PROGRAM, argv);
    unsetenv(CORE);
    unsetenv(VERSION_KERNEL_VARIABLE);
}

void kernel_choose(char **argv)
{
    const char *chosen = getenv(VERSION_KERNEL_VARIABLE);
    const char *core = getenv(CORE);
    const char *kernel;
    if (chosen && strcmp(chosen, CHECK) == 0)
        _exit(blas_kernel_is_right() ? EXIT_SUCCESS : EXIT_FAILURE);
    if (core && *core)
        return;
    for (size_t x = 0; (kernel = blas_kernel_better(blas_core(), blas_kernel_processor(), x)); x++)
        if (is_right(kernel))
            start_again(argv, kernel);
}

void kernel_report(struct log *log)
{
    char why[VERSION_KERNEL_TEXT];
    const char *better = blas_kernel_better(blas_core(), blas_kernel_processor(), 0);
    enum log_level level = better || getenv(VERSION_KERNEL_VARIABLE) ? LOG_WARN : LOG_INFO;
    log_event(log, level, "%s, kernel %s: %s%s", blas_config(), blas_core(), version_kernel_reason(why),
              better ? "; the processor could run a better one" : "");
}
