/* The service in a control group whose memory is small: what is too much is refused, and the kernel ends nobody. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *cgroup_suite(void);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWED true
#else
#define SHADOWED false
#endif

#define GROUP_LIMIT "268435456" /* docker run --memory 256m */
#define BODY ((size_t)59000000)
#define CLIENTS 10

/* A control group of this process, with a limit of memory, where this system lets one be made. */
struct group {
    char folder[128];
    bool old; /* version 1 */
};

static bool write_group(const struct group *group, const char *name, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group->folder, name);
    FILE *file = fopen(path, "we");
    bool written = file && fputs(value, file) >= 0;
    return file && fclose(file) == 0 && written;
}

static bool make_group(struct group *group)
{
    group->old = access("/sys/fs/cgroup/memory/cgroup.procs", F_OK) == 0;
    snprintf(group->folder, sizeof group->folder, "/sys/fs/cgroup/%sattentiond-test-%d", group->old ? "memory/" : "",
             (int)getpid());
    if (mkdir(group->folder, 0755) != 0)
        return false;
    bool bounded = write_group(group, group->old ? "memory.limit_in_bytes" : "memory.max", GROUP_LIMIT);
    (void)write_group(group, group->old ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
                      group->old ? GROUP_LIMIT : "0");
    if (bounded && write_group(group, "cgroup.procs", "0"))
        return true;
    rmdir(group->folder);
    return false;
}

/* This process goes back to where all are, so that only the service is bounded. */
static void leave_group(const struct group *group)
{
    const struct group above = {.folder = "/sys/fs/cgroup"};
    const struct group above_old = {.folder = "/sys/fs/cgroup/memory"};
    ck_assert(write_group(group->old ? &above_old : &above, "cgroup.procs", "0"));
}

struct sender {
    const struct service *service;
    const char *body;
    pthread_t thread;
    int status;
};

static void *send_body(void *context)
{
    struct sender *sender = context;
    struct wire wire = wire_open(sender->service);
    (void)(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: a\r\nContent-Length: 59000000\r\n\r\n") &&
           wire_send_bytes(&wire, sender->body, BODY));
    sender->status = wire_receive(&wire, NULL, 60);
    wire_close(&wire);
    return NULL;
}

static void send_bodies(const struct service *service, const char *unit, size_t length)
{
    struct sender senders[CLIENTS];
    char *body = malloc(BODY);
    ck_assert_ptr_nonnull(body);
    for (size_t i = 0; i < BODY; i++)
        body[i] = i < 7 ? "{\"q\":[["[i] : unit[(i - 7) % length];
    memcpy(body + BODY - 4, "0]]}", 4);
    for (size_t i = 0; i < CLIENTS; i++) {
        senders[i] = (struct sender){.service = service, .body = body};
        ck_assert_int_eq(pthread_create(&senders[i].thread, NULL, send_body, &senders[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(senders[i].thread, NULL);
        ck_assert_msg(senders[i].status == 503 || senders[i].status == 413 || senders[i].status == 422, "status %d",
                      senders[i].status);
    }
    free(body);
}

/* Nothing but the defaults: what does not fit is refused, and the kernel ends nobody. */
START_TEST(limits_follow_the_control_group)
{
    static const char *const units[] = {"0.1234567,", "1,", "\"a\","};
    struct group group;
    if (SHADOWED || !make_group(&group)) {
        puts("skipped: no control group can be made here, or a sanitizer needs more than it grants");
        return;
    }
    struct service service = service_start((const char *const[]){"--workers", "2", NULL});
    leave_group(&group);
    struct client_reply reply = client_get(&service, "/v1/info");
    json_t *root = client_json(&reply);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "limits"), "memory")), 64 << 20);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "limits"), "request_memory")), 32 << 20);
    json_decref(root);
    client_free(&reply);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        send_bodies(&service, units[i], strlen(units[i]));
    reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
    ck_assert_int_eq(service_stop(&service), 0);
    ck_assert_int_eq(rmdir(group.folder), 0);
}
END_TEST

Suite *cgroup_suite(void)
{
    Suite *suite = suite_create("cgroup");
    TCase *tests = tcase_create("a service in one");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, limits_follow_the_control_group);
    suite_add_tcase(suite, tests);
    return suite;
}
