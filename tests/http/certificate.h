/* Two certificates for 127.0.0.1 that sign themselves, and their keys: for tests only, worth nothing elsewhere. P-256,
 * valid from 2020 to 2120, alternative names IP:127.0.0.1 and DNS:localhost; made by Python's cryptography. */
#ifndef TESTS_HTTP_CERTIFICATE_H
#define TESTS_HTTP_CERTIFICATE_H

#define CERTIFICATE \
    "-----BEGIN CERTIFICATE-----\n" \
    "MIIBaDCCAQ2gAwIBAgIUJUWY4Fu4bKZhOjpUCO1VFIBU9bEwCgYIKoZIzj0EAwIw\n" \
    "GjEYMBYGA1UEAwwPYXR0ZW50aW9uZCB0ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIx\n" \
    "MjAwMTAxMDAwMDAwWjAaMRgwFgYDVQQDDA9hdHRlbnRpb25kIHRlc3QwWTATBgcq\n" \
    "hkjOPQIBBggqhkjOPQMBBwNCAAQCvE7I3raOsG1bZqWhaJnqUxG238z6/Rl1PC1L\n" \
    "/A5Aal1y3nQsMrV4dW04jIX3d/SYaj9QSr+r9vbgpD8u3U6Ooy8wLTAaBgNVHREE\n" \
    "EzARhwR/AAABgglsb2NhbGhvc3QwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD\n" \
    "AgNJADBGAiEA+pJwahOjzrs3nQcb9/ttg0cnOUr40yAjet2Tr5SAIkgCIQDXFeXo\n" \
    "PIlqQdBpM7r3liB3PeUgH7M8H9pa7nK9vpHFEg==\n" \
    "-----END CERTIFICATE-----\n"

#define CERTIFICATE_KEY \
    "-----BEGIN PRIVATE KEY-----\n" \
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7wvZr4VH/bnAutRQ\n" \
    "5RK9EUL3QCDl9n5uw4NppowtacqhRANCAAQCvE7I3raOsG1bZqWhaJnqUxG238z6\n" \
    "/Rl1PC1L/A5Aal1y3nQsMrV4dW04jIX3d/SYaj9QSr+r9vbgpD8u3U6O\n" \
    "-----END PRIVATE KEY-----\n"

#define RENEWED \
    "-----BEGIN CERTIFICATE-----\n" \
    "MIIBejCCAR+gAwIBAgIUCVvS9q5568iA8uzBoG6RW3qopgMwCgYIKoZIzj0EAwIw\n" \
    "IzEhMB8GA1UEAwwYYXR0ZW50aW9uZCB0ZXN0LCByZW5ld2VkMCAXDTIwMDEwMTAw\n" \
    "MDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAjMSEwHwYDVQQDDBhhdHRlbnRpb25kIHRl\n" \
    "c3QsIHJlbmV3ZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASQFsqgqUpqBw1m\n" \
    "M3nirWc31ywZMqaNg7RAPNac3T5OCr2gJJZLkIxwyXOKjEhxjKwfqIpJT4XJxTg9\n" \
    "geY55e20oy8wLTAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwDwYDVR0TAQH/\n" \
    "BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAvnm+/SqbWKLkm6B4e1SCjijn3i8H\n" \
    "U/2xCpBx1QawpDkCIQDf+zBV2/cLJElo4gGmOr/IkNbWpoeUzB5Ee8ADh7R3Ug==\n" \
    "-----END CERTIFICATE-----\n"

#define RENEWED_KEY \
    "-----BEGIN PRIVATE KEY-----\n" \
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiAy6A9/gUHVd/sgH\n" \
    "XqygWTfRzhWg6qrfD390s3cIJeKhRANCAASQFsqgqUpqBw1mM3nirWc31ywZMqaN\n" \
    "g7RAPNac3T5OCr2gJJZLkIxwyXOKjEhxjKwfqIpJT4XJxTg9geY55e20\n" \
    "-----END PRIVATE KEY-----\n"

#endif
