/* Starting and ending the program under test. */
#include "tests/http/service.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLAGS_MAX 64
#define START_SECONDS 60.0 /* a loaded machine under a sanitizer is slow */
#define STOP_SECONDS 60.0

static void find_file(const struct service *service, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", service->folder, name);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t length = 0;
    size_t size = 1 << 16;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    while (file && (length += fread(text + length, 1, size - length - 1, file)) == size - 1) {
        size *= 2;
        text = realloc(text, size);
        ck_assert_ptr_nonnull(text);
    }
    if (file)
        fclose(file);
    text[length] = '\0';
    return text;
}

double service_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void service_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* The environment without settings of whoever runs the tests, and with `more`. */
static char **make_environment(const char *const *more)
{
    size_t count = 0;
    size_t used = 0;
    while (environ[count])
        count++;
    for (size_t i = 0; more && more[i]; i++)
        count++;
    char **made = calloc(count + 1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    for (size_t i = 0; environ[i]; i++)
        if (strncmp(environ[i], "ATTND_", 6) != 0)
            made[used++] = environ[i];
    for (size_t i = 0; more && more[i]; i++)
        made[used++] = (char *)(size_t)more[i];
    return made;
}

static pid_t spawn(char **arguments, const char *const *environment, const char *out, const char *err)
{
    pid_t pid = 0;
    posix_spawn_file_actions_t actions;
    const char *program = getenv("ATTENTIOND");
    ck_assert_msg(program != NULL, "ATTENTIOND names the program under test");
    char **variables = make_environment(environment);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_APPEND, 0600);
    arguments[0] = (char *)(size_t)program;
    int failure = posix_spawn(&pid, program, &actions, NULL, arguments, variables);
    posix_spawn_file_actions_destroy(&actions);
    free(variables);
    ck_assert_msg(failure == 0, "%s: %s", program, strerror(failure));
    return pid;
}

static void make_folder(struct service *service)
{
    snprintf(service->folder, sizeof service->folder, "/tmp/attentiond-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(service->folder));
}

void service_clean(struct service *service)
{
    char path[512];
    DIR *folder = opendir(service->folder);
    if (!folder)
        return;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        snprintf(path, sizeof path, "%s/%s", service->folder, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    rmdir(service->folder);
}

static unsigned read_port(const char *path)
{
    char *text = read_file(path);
    unsigned port = (unsigned)strtoul(text, NULL, 10);
    free(text);
    return port;
}

static void await_port(struct service *service, const char *path)
{
    double end = service_now() + START_SECONDS;
    while (access(path, R_OK) != 0) {
        char errors[128];
        find_file(service, "errors", errors, sizeof errors);
        ck_assert_msg(waitpid(service->pid, NULL, WNOHANG) == 0, "it ended at once: %s%s", read_file(errors),
                      service_log(service));
        ck_assert_msg(service_now() < end, "it did not get ready");
        service_pause();
    }
    service->port = read_port(path);
}

struct service service_start_at(const char *const *flags)
{
    struct service service = {0};
    char port[128];
    char log[128];
    char errors[128];
    char *arguments[FLAGS_MAX] = {NULL, "--port", "0", "--port-file", port};
    size_t count = 5;
    make_folder(&service);
    find_file(&service, "port", port, sizeof port);
    find_file(&service, "log", log, sizeof log);
    find_file(&service, "errors", errors, sizeof errors);
    for (size_t i = 0; flags && flags[i] && count + 1 < FLAGS_MAX; i++)
        arguments[count++] = (char *)(size_t)flags[i];
    service.pid = spawn(arguments, NULL, log, errors);
    await_port(&service, port);
    return service;
}

struct service service_start(const char *const *flags)
{
    struct service service = service_start_at(flags);
    ck_assert_uint_gt(service.port, 0);
    return service;
}

void service_signal(const struct service *service, int signal)
{
    ck_assert_int_gt(service->pid, 0);
    ck_assert_int_eq(kill(service->pid, signal), 0);
}

static int read_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int service_wait(struct service *service, double seconds)
{
    int status = 0;
    double end = service_now() + seconds;
    while (waitpid(service->pid, &status, WNOHANG) == 0) {
        if (service_now() > end) {
            kill(service->pid, SIGKILL);
            waitpid(service->pid, &status, 0);
            service->pid = 0;
            return -1;
        }
        service_pause();
    }
    service->pid = 0;
    return read_status(status);
}

int service_stop(struct service *service)
{
    service_signal(service, SIGTERM);
    int status = service_wait(service, STOP_SECONDS);
    service_clean(service);
    return status;
}

char *service_log(const struct service *service)
{
    char path[128];
    find_file(service, "log", path, sizeof path);
    char *log = read_file(path);
    char *end = strrchr(log, '\n');
    log[end ? end + 1 - log : 0] = '\0';
    return log;
}

static size_t count_text(const char *where, const char *text)
{
    size_t count = 0;
    for (; (where = strstr(where, text)) != NULL; where += strlen(text))
        count++;
    return count;
}

bool service_logged(const struct service *service, const char *text, size_t count, double seconds)
{
    double end = service_now() + seconds;
    for (;;) {
        char *log = service_log(service);
        size_t found = count_text(log, text);
        free(log);
        if (found >= count || service_now() > end)
            return found >= count;
        service_pause();
    }
}

int service_run(const char *const *flags, const char *const *environment, char **out, char **err)
{
    struct service service = {0};
    char log[128];
    char errors[128];
    char *arguments[FLAGS_MAX] = {NULL};
    make_folder(&service);
    find_file(&service, "log", log, sizeof log);
    find_file(&service, "errors", errors, sizeof errors);
    for (size_t i = 0; flags[i] && i + 2 < FLAGS_MAX; i++)
        arguments[i + 1] = (char *)(size_t)flags[i];
    service.pid = spawn(arguments, environment, log, errors);
    int status = service_wait(&service, START_SECONDS);
    *out = read_file(log);
    *err = read_file(errors);
    service_clean(&service);
    return status;
}
