/* Addresses of clients and networks of them. */
#ifndef SERVER_CONFIG_ADDRESS_H
#define SERVER_CONFIG_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define ADDRESS_BYTES 16
#define ADDRESS_TEXT_SIZE 46

/* ADDRESS_UNIX: the other side of a Unix socket. */
enum address_family { ADDRESS_NONE, ADDRESS_UNIX, ADDRESS_V4, ADDRESS_V6 };

/* In network order; unused bytes are 0. An IPv4 address inside an IPv6 one is an IPv4 address. */
struct address {
    enum address_family family;
    unsigned char bytes[ADDRESS_BYTES];
};

/* All addresses whose first `bits` bits are these. */
struct network {
    struct address address;
    unsigned bits;
};

/* `socket` may be NULL: there is none. */
struct address address_of(const struct sockaddr *socket);

/* Reads "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80" of `length` bytes. */
bool address_read(struct address *address, const char *text, size_t length);

/* As text, "unix" or "unknown"; returns out. */
char *address_print(const struct address *address, char out[ADDRESS_TEXT_SIZE]);

/* Reads an address, "192.0.2.0/24" or "unix" of `length` bytes; bits past the prefix must be 0. */
bool network_read(struct network *network, const char *text, size_t length);

bool network_has(const struct network *network, const struct address *address);

#endif
