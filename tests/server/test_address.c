/* Addresses, networks, and who is behind a list of trusted proxies. */
#include "server/config/address.h"
#include "server/config/proxies.h"

#include <check.h>
#include <string.h>

Suite *address_suite(void);

START_TEST(addresses_are_read_and_printed)
{
    static const struct {
        const char *text, *printed; /* NULL: it is none */
    } rows[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.1:80", "192.0.2.1"},
        {"2001:DB8::1", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::1]:8080", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"", NULL},
        {"unknown", NULL},
        {"_hidden", NULL},
        {"192.0.2", NULL},
        {"192.0.2.1:", NULL},
        {"192.0.2.1:x", NULL},
        {"192.0.2.1:123456", NULL},
        {"[192.0.2.1]", NULL},
        {"[2001:db8::1", NULL},
        {"[2001:db8::1]x", NULL},
        {"[]", NULL},
        {":80", NULL},
        {"192.0.2.1 x", NULL},
        {"2001:db8::1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:0:1:2:3:4:5:6:7", NULL},
    };
    char out[ADDRESS_TEXT_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address address;
        bool read = address_read(&address, rows[i].text, strlen(rows[i].text));
        ck_assert_msg(read == (rows[i].printed != NULL), "%s", rows[i].text);
        if (read)
            ck_assert_str_eq(address_print(&address, out), rows[i].printed);
    }
}
END_TEST

static bool is_in(const char *text, const char *of)
{
    struct network network;
    struct address address = {.family = ADDRESS_UNIX};
    ck_assert_msg(network_read(&network, of, strlen(of)), "%s", of);
    if (strcmp(text, "unix") != 0)
        ck_assert(address_read(&address, text, strlen(text)));
    return network_has(&network, &address);
}

START_TEST(networks_have_their_addresses_and_no_others)
{
    ck_assert(is_in("10.1.2.3", "10.0.0.0/8"));
    ck_assert(!is_in("11.1.2.3", "10.0.0.0/8"));
    ck_assert(is_in("10.1.2.3", "10.1.2.2/31"));
    ck_assert(!is_in("10.1.2.4", "10.1.2.2/31"));
    ck_assert(is_in("10.1.2.3", "0.0.0.0/0"));
    ck_assert(!is_in("::1", "0.0.0.0/0"));
    ck_assert(!is_in("10.1.2.3", "::/0"));
    ck_assert(is_in("::ffff:10.1.2.3", "10.1.2.3"));
    ck_assert(is_in("2001:db8:7fff::1", "2001:db8::/33"));
    ck_assert(!is_in("2001:db8:8000::1", "2001:db8::/33"));
    ck_assert(is_in("unix", "unix"));
    ck_assert(!is_in("10.1.2.3", "unix"));
    ck_assert(!is_in("unix", "::/0"));
}
END_TEST

START_TEST(what_is_no_network_is_refused)
{
    static const char *const texts[] = {
        "10.0.0.1/8",     "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x",  "10.0.0.0/0008", "::/129",
        "2001:db8::1/64", "unix:",       "UNIX",      "10.0.0.0:80", "example.org",   "/8"};
    struct proxies proxies = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!proxies_read(&proxies, texts[i]), "%s", texts[i]);
    ck_assert_uint_eq(proxies.count, 0);
    ck_assert(proxies_read(&proxies, " 10.0.0.0/8, ::1,unix ,"));
    ck_assert_uint_eq(proxies.count, 3);
}
END_TEST

Suite *address_suite(void)
{
    Suite *suite = suite_create("address");
    TCase *tests = tcase_create("addresses");
    tcase_add_test(tests, addresses_are_read_and_printed);
    tcase_add_test(tests, networks_have_their_addresses_and_no_others);
    tcase_add_test(tests, what_is_no_network_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
