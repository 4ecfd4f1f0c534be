/* The first record of a client that offers TLS 1.3 with X25519, whole and sound; it is the answer that would be
 * missing. */
#ifndef TESTS_HTTP_CLIENT_HELLO_H
#define TESTS_HTTP_CLIENT_HELLO_H

/* clang-format off */
#define CLIENT_HELLO \
    "\x16\x03\x01\x00\x7b"             /* a handshake record of 123 bytes: */ \
    "\x01\x00\x00\x77\x03\x03"         /* ClientHello, 119 bytes, version 1.2 as its form wants */ \
    "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr" /* random */ \
    "\x00"                             /* no session */ \
    "\x00\x02\x13\x01"                 /* TLS_AES_128_GCM_SHA256 */ \
    "\x01\x00"                         /* no compression */ \
    "\x00\x4c"                         /* extensions, 76 bytes: */ \
    "\x00\x2b\x00\x03\x02\x03\x04"     /* supported_versions: 1.3 */ \
    "\x00\x0a\x00\x04\x00\x02\x00\x1d" /* supported_groups: x25519 */ \
    "\x00\x0d\x00\x0a\x00\x08\x08\x04\x04\x03\x08\x05\x08\x07" /* signature_algorithms */ \
    "\x00\x33\x00\x26\x00\x24\x00\x1d\x00\x20" /* key_share: x25519 */ \
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk" \
    "\xff\x01\x00\x01\x00"             /* renegotiation_info: empty */

/* The same, with P-256 before X25519 among its groups. */
#define CLIENT_HELLO_P256_FIRST \
    "\x16\x03\x01\x00\x7d"             /* a handshake record of 125 bytes: */ \
    "\x01\x00\x00\x79\x03\x03"         /* ClientHello, 121 bytes, version 1.2 as its form wants */ \
    "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr" /* random */ \
    "\x00"                             /* no session */ \
    "\x00\x02\x13\x01"                 /* TLS_AES_128_GCM_SHA256 */ \
    "\x01\x00"                         /* no compression */ \
    "\x00\x4e"                         /* extensions, 78 bytes: */ \
    "\x00\x2b\x00\x03\x02\x03\x04"     /* supported_versions: 1.3 */ \
    "\x00\x0a\x00\x06\x00\x04\x00\x17\x00\x1d" /* supported_groups: secp256r1, x25519 */ \
    "\x00\x0d\x00\x0a\x00\x08\x08\x04\x04\x03\x08\x05\x08\x07" /* signature_algorithms */ \
    "\x00\x33\x00\x26\x00\x24\x00\x1d\x00\x20" /* key_share: x25519 */ \
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk" \
    "\xff\x01\x00\x01\x00"             /* renegotiation_info: empty */
/* clang-format on */

#endif
