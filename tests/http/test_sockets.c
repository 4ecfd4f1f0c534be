/* Where the service listens: a Unix socket, both families, a socket it was given; and what it tells systemd. */
#include "tests/http/client.h"
#include "tests/http/wire.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
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

Suite *sockets_suite(void);

#define PATIENCE 30.0
#define REQUEST "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/attentiond-sockets-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/s", folder);
    unlink(path);
    rmdir(folder);
}

static struct sockaddr_un unix_address(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder);
    return address;
}

static int ask(const struct sockaddr *address, socklen_t size)
{
    char answer[512] = {0};
    int status = 0;
    int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(descriptor, 0);
    if (connect(descriptor, address, size) == 0 && send(descriptor, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) > 0)
        (void)!recv(descriptor, answer, sizeof answer - 1, MSG_WAITALL);
    close(descriptor);
    return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

START_TEST(unix_socket_is_served_and_removed)
{
    char listen[128];
    struct stat status;
    const struct sockaddr_un address = unix_address();
    snprintf(listen, sizeof listen, "unix:%s", address.sun_path);
    struct service service = service_start_at((const char *const[]){"--listen", listen, NULL});
    ck_assert_uint_eq(service.port, 0);
    ck_assert_int_eq(ask((const struct sockaddr *)&address, sizeof address), 200);
    ck_assert_int_eq(stat(address.sun_path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0660);
    char *out = NULL;
    char *err = NULL;
    const char *const probe[] = {"--healthcheck", "--listen", listen, NULL};
    ck_assert_int_eq(service_run(probe, NULL, &out, &err), 0);
    free(out);
    free(err);
    ck_assert_int_eq(service_stop(&service), 0);
    ck_assert_int_ne(access(address.sun_path, F_OK), 0);
}
END_TEST

START_TEST(unix_socket_left_over_is_replaced_and_one_in_use_is_not)
{
    char listen[128];
    char *out = NULL;
    char *err = NULL;
    const struct sockaddr_un address = unix_address();
    snprintf(listen, sizeof listen, "unix:%s", address.sun_path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    close(descriptor);
    struct service service = service_start_at((const char *const[]){"--listen", listen, NULL});
    const char *const second[] = {"--listen", listen, NULL};
    ck_assert_int_eq(service_run(second, NULL, &out, &err), 1);
    ck_assert_int_eq(ask((const struct sockaddr *)&address, sizeof address), 200);
    ck_assert_int_eq(service_stop(&service), 0);
    free(out);
    free(err);
}
END_TEST

/* Another process has put its socket in the place of ours. */
START_TEST(unix_socket_of_another_is_not_removed)
{
    char listen[128];
    struct stat status;
    const struct sockaddr_un address = unix_address();
    snprintf(listen, sizeof listen, "unix:%s", address.sun_path);
    struct service service = service_start_at((const char *const[]){"--listen", listen, NULL});
    ck_assert_int_eq(unlink(address.sun_path), 0);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(service_stop(&service), 0);
    ck_assert_int_eq(stat(address.sun_path, &status), 0);
    ck_assert(S_ISSOCK(status.st_mode));
    close(descriptor);
}
END_TEST

static bool has_v6(void)
{
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = descriptor >= 0 && bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return has;
}

START_TEST(brackets_belong_to_no_address)
{
    if (!has_v6())
        return;
    struct service service = service_start_at((const char *const[]){"--listen", "[::1]", NULL});
    const struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons((in_port_t)service.port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    ck_assert_int_eq(ask((const struct sockaddr *)&v6, sizeof v6), 200);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

static const char *const everywhere[] = {"*", "::", "[::]"};

START_TEST(star_is_both_families)
{
    struct service service =
        service_start_at((const char *const[]){"--listen", everywhere[_i], "--allow-vulnerable-libmicrohttpd", NULL});
    const struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons((in_port_t)service.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons((in_port_t)service.port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    ck_assert_int_eq(ask((const struct sockaddr *)&v4, sizeof v4), 200);
    if (has_v6())
        ck_assert_int_eq(ask((const struct sockaddr *)&v6, sizeof v6), 200);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* A listening socket on the loopback; its address in *address. */
static int open_listener(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)address, sizeof *address), 0);
    ck_assert_int_eq(listen(descriptor, 16), 0);
    ck_assert_int_eq(getsockname(descriptor, (struct sockaddr *)address, &size), 0);
    return descriptor;
}

/* Runs the program with descriptors 3 and 4 for the two; `shell` sets what says so, and gives way to the program, so
 * that LISTEN_PID is right. The listeners stay open here, as systemd keeps them. */
static pid_t start_with_passed(const int listeners[2], const char *shell)
{
    pid_t pid = 0;
    int moved[2];
    char *const arguments[] = {(char *)(size_t) "sh", (char *)(size_t) "-c", (char *)(size_t)shell, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 2; i++) {
        moved[i] = fcntl(listeners[i], F_DUPFD_CLOEXEC, 100);
        posix_spawn_file_actions_adddup2(&actions, moved[i], 3 + i);
    }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ck_assert_int_eq(posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(moved[0]);
    close(moved[1]);
    return pid;
}

static void await_end(pid_t pid, int wanted)
{
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "%x", (unsigned)status);
}

/* One service after the other on a socket that its owner keeps: no stop does anything to it, and who connects in
 * between is answered by the next one. */
static void serve_by_turns(const int listeners[2], const struct sockaddr *address, socklen_t size)
{
    for (int i = 0; i < 3; i++) {
        char answer[16] = {0};
        int early = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(connect(early, address, size), 0);
        ck_assert_int_gt(send(early, REQUEST, strlen(REQUEST), MSG_NOSIGNAL), 0);
        pid_t pid = start_with_passed(listeners, "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$ATTENTIOND\" --listen 192.0.2.1");
        ck_assert_int_eq(recv(early, answer, 12, MSG_WAITALL), 12);
        ck_assert_str_eq(answer, "HTTP/1.1 200");
        close(early);
        ck_assert_int_eq(ask(address, size), 200);
        ck_assert_int_eq(kill(pid, SIGTERM), 0);
        await_end(pid, 0);
    }
}

START_TEST(passed_socket_outlives_the_service)
{
    struct sockaddr_in address;
    struct sockaddr_in other;
    const int listeners[2] = {open_listener(&address), open_listener(&other)};
    serve_by_turns(listeners, (const struct sockaddr *)&address, sizeof address);
    close(listeners[0]);
    close(listeners[1]);
}
END_TEST

START_TEST(passed_unix_socket_outlives_the_service)
{
    struct sockaddr_in other;
    const struct sockaddr_un address = unix_address();
    const int listeners[2] = {socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), open_listener(&other)};
    ck_assert_int_eq(bind(listeners[0], (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listeners[0], 16), 0);
    serve_by_turns(listeners, (const struct sockaddr *)&address, sizeof address);
    close(listeners[0]);
    close(listeners[1]);
}
END_TEST

START_TEST(passed_socket_that_does_not_listen_is_an_error)
{
    struct sockaddr_in other;
    const int listeners[2] = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), open_listener(&other)};
    await_end(start_with_passed(listeners, "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$ATTENTIOND\" --port 0"), 1);
    close(listeners[0]);
    close(listeners[1]);
}
END_TEST

/* Whoever asked by the second would wait for ever. */
START_TEST(several_passed_sockets_are_refused)
{
    struct sockaddr_in first;
    struct sockaddr_in second;
    const int listeners[2] = {open_listener(&first), open_listener(&second)};
    await_end(start_with_passed(listeners, "LISTEN_PID=$$ LISTEN_FDS=2 exec \"$ATTENTIOND\""), 1);
    close(listeners[0]);
    close(listeners[1]);
}
END_TEST

static void await_datagram(int descriptor, const char *wanted)
{
    char text[128] = {0};
    struct pollfd poller = {.fd = descriptor, .events = POLLIN};
    ck_assert_int_eq(poll(&poller, 1, (int)(PATIENCE * 1e3)), 1);
    ck_assert_int_gt(recv(descriptor, text, sizeof text - 1, 0), 0);
    ck_assert_str_eq(text, wanted);
}

START_TEST(systemd_is_told)
{
    const struct sockaddr_un address = unix_address();
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    struct service service = service_start(NULL);
    await_datagram(descriptor, "READY=1");
    service_signal(&service, SIGTERM);
    await_datagram(descriptor, "STOPPING=1");
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    service_clean(&service);
    close(descriptor);
}
END_TEST

Suite *sockets_suite(void)
{
    Suite *suite = suite_create("sockets");
    TCase *tests = tcase_create("a service each");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, unix_socket_is_served_and_removed);
    tcase_add_test(tests, unix_socket_left_over_is_replaced_and_one_in_use_is_not);
    tcase_add_test(tests, brackets_belong_to_no_address);
    tcase_add_loop_test(tests, star_is_both_families, 0, 3);
    tcase_add_test(tests, unix_socket_of_another_is_not_removed);
    tcase_add_test(tests, passed_socket_outlives_the_service);
    tcase_add_test(tests, passed_unix_socket_outlives_the_service);
    tcase_add_test(tests, passed_socket_that_does_not_listen_is_an_error);
    tcase_add_test(tests, several_passed_sockets_are_refused);
    tcase_add_test(tests, systemd_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
