/* Small parts: request names, budgets, quotas, addresses. */
#include "server/http/request_id.h"
#include "server/listen/connections.h"
#include "server/listen/listener.h"
#include "server/machine/cpu.h"
#include "server/machine/fit.h"
#include "server/machine/memory.h"
#include "server/watch/budget.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *parts_suite(void);

static void write_file(const char *root, const char *path, const char *text)
{
    char name[500];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static double read_groups(double (*read)(const char *, FILE *), const char *root, const char *groups)
{
    FILE *file = fmemopen((char *)(size_t)groups, strlen(groups), "r");
    ck_assert_ptr_nonnull(file);
    double amount = read(root, file);
    fclose(file);
    return amount;
}

static double read_quota(const char *root, const char *groups)
{
    return read_groups(cpu_quota, root, groups);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

START_TEST(quotas_are_read)
{
    char root[] = "/tmp/attentiond-groups-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_double_eq(cpu_quota(root, NULL), 0);
    write_file(root, "pod/cpu.max", "200000 100000\n");
    write_file(root, "pod/half/cpu.max", "50000 100000\n");
    write_file(root, "pod/free/cpu.max", "max 100000\n");
    write_file(root, "pod/odd/cpu.max", "nonsense\n");
    ck_assert_double_eq(read_quota(root, "0::/pod/half\n"), 0.5);
    ck_assert_double_eq(read_quota(root, "0::/pod/free\n"), 2);
    ck_assert_double_eq(read_quota(root, "0::/pod/odd\n"), 2);
    ck_assert_double_eq(read_quota(root, "0::/\n"), 0);
    ck_assert_double_eq(read_quota(root, "nonsense\n"), 0);
    write_file(root, "cpu/old/cpu.cfs_quota_us", "150000\n");
    write_file(root, "cpu/old/cpu.cfs_period_us", "100000\n");
    write_file(root, "cpu/free/cpu.cfs_quota_us", "-1\n");
    write_file(root, "cpu/free/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(read_quota(root, "4:cpu,cpuacct:/old\n0::/\n"), 1.5);
    ck_assert_double_eq(read_quota(root, "4:cpuacct,cpu:/old/below\n"), 1.5);
    ck_assert_double_eq(read_quota(root, "5:cpuset:/old\n1:cpu:/free\n"), 0);
    ck_assert_double_eq(read_quota(root, "1:cpu:/old\n0::/pod/half\n"), 0.5);
    write_file(root, "cpu.max", "100000 100000\n"); /* as a container sees its own */
    ck_assert_double_eq(read_quota(root, "0::/\n"), 1);
    ck_assert_int_eq(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    ck_assert_uint_ge(cpu_count(), 1);
    ck_assert_uint_le(cpu_count(), (size_t)sysconf(_SC_NPROCESSORS_ONLN));
}
END_TEST

START_TEST(memory_limits_are_read)
{
    char root[] = "/tmp/attentiond-groups-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_double_eq(memory_limit(root, NULL), 0);
    write_file(root, "pod/memory.max", "268435456\n");
    write_file(root, "pod/free/memory.max", "max\n");
    write_file(root, "pod/more/memory.max", "536870912\n");
    ck_assert_double_eq(read_groups(memory_limit, root, "0::/pod\n"), 268435456);
    ck_assert_double_eq(read_groups(memory_limit, root, "0::/pod/free\n"), 268435456);
    ck_assert_double_eq(read_groups(memory_limit, root, "0::/pod/more\n"), 268435456);
    ck_assert_double_eq(read_groups(memory_limit, root, "0::/\n"), 0);
    write_file(root, "memory/old/memory.limit_in_bytes", "134217728\n");
    write_file(root, "memory/free/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_double_eq(read_groups(memory_limit, root, "4:memory:/old/below\n0::/\n"), 134217728);
    ck_assert_double_eq(read_groups(memory_limit, root, "4:memory:/free\n"), 0);
    ck_assert_double_eq(read_groups(memory_limit, root, "4:cpu:/old\n"), 0);
    ck_assert_int_eq(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    ck_assert_uint_gt(memory_granted(), (size_t)1 << 20);
}
END_TEST

#define MIB ((size_t)1 << 20)

START_TEST(memory_follows_what_is_granted)
{
    static const struct {
        size_t granted, workers, memory, request; /* MiB; 0: left to the machine */
        size_t fitted_memory, fitted_request;
        bool fits;
    } rows[] = {
        {65536, 2, 0, 0, 2048, 1024, true}, {8192, 2, 0, 0, 2048, 1024, true},
        {256, 2, 0, 0, 64, 32, true},       {64, 2, 0, 0, 16, 8, true},
        {32768, 64, 0, 0, 2048, 454, true}, {256, 2, 96, 0, 96, 16, true},
        {256, 2, 0, 40, 48, 40, true},      {256, 2, 0, 100, 1, 100, false},
        {256, 2, 200, 0, 200, 1, false},    {2048, 2, 2048, 1024, 2048, 1024, false},
    };
    char why[320];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settings settings = {.workers = rows[i].workers,
                                    .memory = rows[i].memory * MIB,
                                    .request_memory = rows[i].request * MIB,
                                    .max_body = 64 * MIB};
        fit_settings(&settings, rows[i].granted * MIB);
        ck_assert_msg(settings.memory == rows[i].fitted_memory * MIB, "%zu: %zu", i, settings.memory / MIB);
        ck_assert_msg(settings.request_memory == rows[i].fitted_request * MIB, "%zu: %zu", i,
                      settings.request_memory / MIB);
        ck_assert_uint_le(settings.max_body, settings.memory);
        ck_assert_msg(fit_check(&settings, rows[i].granted * MIB, why, sizeof why) == rows[i].fits, "%zu", i);
    }
    ck_assert_ptr_nonnull(strstr(why, "add up to 4224 MiB (--memory 2048, 2 workers with --request-memory 1024 each"));
    ck_assert_ptr_nonnull(strstr(why, "only 2048 here"));
    struct settings settings = {.max_body = MIB};
    fit_settings(&settings, 256 * MIB);
    ck_assert_uint_ge(settings.workers, 1);
}
END_TEST

START_TEST(budget_never_passes_its_limit)
{
    struct budget budget = {.limit = 10};
    ck_assert(budget_take(&budget, 6));
    ck_assert(!budget_take(&budget, 5));
    ck_assert(budget_has(&budget, 4));
    ck_assert(!budget_has(&budget, 5));
    ck_assert(!budget_take(&budget, (size_t)-1));
    ck_assert(budget_take(&budget, 4));
    ck_assert(!budget_has(&budget, 1));
    budget_give(&budget, 10);
    ck_assert(budget_take(&budget, 10));
}
END_TEST

START_TEST(names_are_kept_or_made)
{
    char first[REQUEST_ID_SIZE];
    char second[REQUEST_ID_SIZE];
    request_id_set(first, "A-1.b_c");
    ck_assert_str_eq(first, "A-1.b_c");
    request_id_set(first, NULL);
    request_id_set(second, "");
    ck_assert_uint_eq(strlen(first), 16);
    ck_assert_uint_eq(strlen(second), 16);
    ck_assert_str_ne(first, second);
    request_id_set(first, "a\nb");
    ck_assert_uint_eq(strlen(first), 16);
}
END_TEST

START_TEST(local_addresses)
{
    static const struct {
        const char *address;
        bool local;
    } rows[] = {{"127.0.0.1", true}, {"127.9.8.7", true},       {"localhost", true}, {"::1", true},
                {"0.0.0.0", false},  {"unix:local-sock", true}, {"*", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[200];
        struct listener listener = LISTENER_NONE;
        bool open = listener_open(&listener, rows[i].address, 0, why, sizeof why);
        if (!open && strcmp(rows[i].address, "::1") == 0)
            continue; /* a system without IPv6 */
        ck_assert_msg(open, "%s", why);
        ck_assert_msg(listener_is_local(&listener) == rows[i].local, "%s", rows[i].address);
        listener_refuse(&listener);
        listener_close(&listener);
    }
}
END_TEST

/* Whatever the limit of open files is: all kinds of connections fit in it, or there are none. */
START_TEST(connections_fit_in_what_there_is)
{
    struct connections_room room;
    ck_assert(connections_find_room(&room, 1000, 1000000));
    ck_assert_uint_eq(room.usual, 1000);
    ck_assert_uint_ge(room.reserve, 256);
    for (size_t places = 0; places < 3000; places++) {
        bool fits = connections_find_room(&room, 1000, places);
        ck_assert_msg(fits == (places > 12), "%zu", places);
        ck_assert(!fits || (room.usual >= 1 && room.usual <= 1000 && room.reserve >= 4 && room.side >= 4));
        ck_assert_msg(!fits || connections_all(&room) <= places, "%zu", places);
    }
}
END_TEST

Suite *parts_suite(void)
{
    Suite *suite = suite_create("parts");
    TCase *tests = tcase_create("parts");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, quotas_are_read);
    tcase_add_test(tests, memory_limits_are_read);
    tcase_add_test(tests, memory_follows_what_is_granted);
    tcase_add_test(tests, budget_never_passes_its_limit);
    tcase_add_test(tests, names_are_kept_or_made);
    tcase_add_test(tests, local_addresses);
    tcase_add_test(tests, connections_fit_in_what_there_is);
    suite_add_tcase(suite, tests);
    return suite;
}
