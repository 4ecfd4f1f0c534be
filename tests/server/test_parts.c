/* Small parts: request names, budgets, quotas, addresses. */
#include "server/http/request_id.h"
#include "server/listen/listener.h"
#include "server/run/cpu.h"
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

static double read_quota(const char *root, const char *groups)
{
    FILE *file = fmemopen((char *)(size_t)groups, strlen(groups), "r");
    ck_assert_ptr_nonnull(file);
    double quota = cpu_quota(root, file);
    fclose(file);
    return quota;
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
        unsigned port = 0;
        char why[200];
        int descriptor = listener_open_new(rows[i].address, &port, why, sizeof why);
        if (descriptor < 0 && strcmp(rows[i].address, "::1") == 0)
            continue; /* a system without IPv6 */
        ck_assert_msg(descriptor >= 0, "%s", why);
        ck_assert_msg(listener_is_local(descriptor) == rows[i].local, "%s", rows[i].address);
        listener_refuse(descriptor, rows[i].address);
        listener_close(descriptor);
    }
}
END_TEST

Suite *parts_suite(void)
{
    Suite *suite = suite_create("parts");
    TCase *tests = tcase_create("parts");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, quotas_are_read);
    tcase_add_test(tests, budget_never_passes_its_limit);
    tcase_add_test(tests, names_are_kept_or_made);
    tcase_add_test(tests, local_addresses);
    suite_add_tcase(suite, tests);
    return suite;
}
