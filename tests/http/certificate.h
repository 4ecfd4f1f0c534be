/* A certificate for 127.0.0.1 that signs itself, and its key: for tests only, worth nothing elsewhere. Made by
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=attentiond test" \
 *   -addext "subjectAltName=IP:127.0.0.1,DNS:localhost" */
#ifndef TESTS_HTTP_CERTIFICATE_H
#define TESTS_HTTP_CERTIFICATE_H

#define CERTIFICATE \
    "-----BEGIN CERTIFICATE-----\n" \
    "MIIBpzCCAU2gAwIBAgIUYORougIsxcehZkbL4bDJwpdYYKUwCgYIKoZIzj0EAwIw\n" \
    "GjEYMBYGA1UEAwwPYXR0ZW50aW9uZCB0ZXN0MCAXDTI2MTEyOTIwMTEzNVoYDzIx\n" \
    "MjYxMTA1MjAxMTM1WjAaMRgwFgYDVQQDDA9hdHRlbnRpb25kIHRlc3QwWTATBgcq\n" \
    "hkjOPQIBBggqhkjOPQMBBwNCAAQd/3KlaFZ6AV8uE8ptHPEtyJgTBOjRf9eFhPQz\n" \
    "cvZeUN7RlX/5U2pdd2jVQp41DpAjFATrayU7zb2xqMN9O8sCo28wbTAdBgNVHQ4E\n" \
    "FgQU9d/iE9sIrn0/poHn+mmY221tKIswHwYDVR0jBBgwFoAU9d/iE9sIrn0/poHn\n" \
    "+mmY221tKIswDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2Nh\n" \
    "bGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhALyfGKsRgx9pBBTEjhsia7XfHbqxxtTC\n" \
    "bTrC+4IQU0pbAiB4JFoi070G+R9odIYuOAuixfY+4p7/A416SCp/j9ca5Q==\n" \
    "-----END CERTIFICATE-----\n"

#define CERTIFICATE_KEY \
    "-----BEGIN PRIVATE KEY-----\n" \
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNIak4aUQwwUJIMz0\n" \
    "j665MbYHQmMUeadmsdVWu5+M7LChRANCAAQd/3KlaFZ6AV8uE8ptHPEtyJgTBOjR\n" \
    "f9eFhPQzcvZeUN7RlX/5U2pdd2jVQp41DpAjFATrayU7zb2xqMN9O8sC\n" \
    "-----END PRIVATE KEY-----\n"

#endif
