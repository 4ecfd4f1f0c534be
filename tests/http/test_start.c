/* What a start does to files and streams, and what it says when it fails. */
#include "tests/http/service.h"
#include "tests/http/wire.h"

#include <check.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *start_suite(void);

#define PATIENCE 30.0
#define REQUEST "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/attentiond-start-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/s", folder);
    unlink(path);
    rmdir(folder);
}

static void await_end(pid_t pid, int wanted)
{
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "%x", (unsigned)status);
}

static pid_t start_by_shell(const char *shell)
{
    pid_t pid = 0;
    char *const arguments[] = {(char *)(size_t) "sh", (char *)(size_t) "-c", (char *)(size_t)shell, NULL};
    ck_assert_int_eq(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ), 0);
    return pid;
}

static unsigned await_port(const char *path)
{
    unsigned port = 0;
    for (double end = service_now() + PATIENCE; port == 0 && service_now() < end; service_pause()) {
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%u", &port) != 1)
            port = 0;
        if (file)
            fclose(file);
    }
    return port;
}

/* The log goes to descriptor 1: it must not be a connection, and the first one would be. */
START_TEST(closed_streams_do_not_become_sockets)
{
    char path[128];
    char link[64];
    char target[64] = {0};
    snprintf(path, sizeof path, "%s/s", folder);
    setenv("PORT_FILE", path, 1);
    pid_t pid = start_by_shell("exec \"$ATTENTIOND\" --port 0 --port-file \"$PORT_FILE\" <&- >&- 2>&-");
    struct service service = {.pid = pid, .port = await_port(path)};
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, REQUEST));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    ck_assert(wire_closed(&wire, PATIENCE));
    for (int i = 0; i < 3; i++) {
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, i);
        ck_assert_int_gt(readlink(link, target, sizeof target - 1), 0);
        ck_assert_str_eq(target, "/dev/null");
    }
    wire_close(&wire);
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    await_end(pid, 0);
}
END_TEST

/* A folder, a link, what is no file: none of them is replaced, and the start fails. */
START_TEST(port_file_replaces_files_only)
{
    char path[128];
    char command[512];
    struct stat before;
    struct stat after;
    static const char *const makers[] = {"mkdir", "ln -s /dev/null", "mkfifo"};
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(command, sizeof command, "%s %s", makers[_i], path);
    await_end(start_by_shell(command), 0);
    ck_assert_int_eq(lstat(path, &before), 0);
    setenv("PORT_FILE", path, 1);
    await_end(start_by_shell("exec \"$ATTENTIOND\" --port 0 --port-file \"$PORT_FILE\" >/dev/null"), 1);
    ck_assert_int_eq(lstat(path, &after), 0);
    ck_assert_uint_eq(after.st_ino, before.st_ino);
    ck_assert_uint_eq(after.st_mode, before.st_mode);
    snprintf(command, sizeof command, "rm -r %s", path);
    await_end(start_by_shell(command), 0);
}
END_TEST

/* Who asked to be told hears nothing of readiness, and nobody is accepted. */
START_TEST(failed_start_is_not_told_as_ready)
{
    char text[64];
    char *out = NULL;
    char *err = NULL;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    const char *const flags[] = {"--port", "0", "--port-file", folder, NULL};
    ck_assert_int_eq(service_run(flags, NULL, &out, &err), 1);
    ck_assert_ptr_nonnull(strstr(out, "no regular file"));
    ck_assert_ptr_null(strstr(out, "listens on"));
    ssize_t length = recv(descriptor, text, sizeof text, 0);
    ck_assert(length < 0 || strncmp(text, "READY", 5) != 0);
    free(out);
    free(err);
    close(descriptor);
}
END_TEST

Suite *start_suite(void)
{
    Suite *suite = suite_create("start");
    TCase *tests = tcase_create("a service each");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, closed_streams_do_not_become_sockets);
    tcase_add_loop_test(tests, port_file_replaces_files_only, 0, 3);
    tcase_add_test(tests, failed_start_is_not_told_as_ready);
    suite_add_tcase(suite, tests);
    return suite;
}
