/* Certificates for 127.0.0.1 that sign themselves, and their keys: for tests only, worth nothing elsewhere. P-256, and
 * one with RSA, valid from 2020 to 2120, alternative names IP:127.0.0.1 and DNS:localhost; made by Python's
 * cryptography. */
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

#define RSA_CERTIFICATE \
    "-----BEGIN CERTIFICATE-----\n" \
    "MIIC/TCCAeWgAwIBAgIUGnfS+Q+ew9XRt4UtKI1TAiCwCK0wDQYJKoZIhvcNAQEL\n" \
    "BQAwHzEdMBsGA1UEAwwUYXR0ZW50aW9uZCB0ZXN0LCBSU0EwIBcNMjAwMTAxMDAw\n" \
    "MDAwWhgPMjEyMDAxMDEwMDAwMDBaMB8xHTAbBgNVBAMMFGF0dGVudGlvbmQgdGVz\n" \
    "dCwgUlNBMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0Z+502QWkEU1\n" \
    "rmmIm2hFaEc8cr+aMg/KrhN7kkKy/pOSA3v9bbnfJUAdGtRGFLyd9QXhLNNmq7u5\n" \
    "feS3+ERQteJzDhdC0NLLcESbZAl1UGgWOh2APMNZaXWSMbG8h4Y3T4gsH9sDiPbB\n" \
    "a+gP7dhxHpKsKDYEPzVouSf0PgiYSUAdze8uNQ1+MNSTQDdxdY8F3s1i0IlSOZwm\n" \
    "GgZaJ1yD4z0ZNGAmwpoIV7rDhD/vgHJH7rA6t5ZSKngPBKbn0aCoBWTG2w6RPh/r\n" \
    "ZAHf27GMQ9Tifu6mNYsJ/oocgStm/F1ANKCw3gqOMTtXoiJrm5CmCC5ewLdaKRxx\n" \
    "CMAfTsi3MwIDAQABoy8wLTAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwDwYD\n" \
    "VR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAd9HgCkOSiYHxMPqscO5M\n" \
    "Zs3dmTZaJJrHjujvoKnHdE2+07UufYr6UmSOaN3qprQW70wtGQ9Zqy0mZlCLuhM9\n" \
    "SUPRaswW3wZcOfUcZAYCWnGyeHGRu2coHN1pSsmagdmQ6XoXRoUygG97x3XWyM4Z\n" \
    "E4Q8NKeNyFhYOY3MvkV3WynR60OwvN1dgc7/ZfLKVOjte6PHOcyiD4GZ+QjPD+lw\n" \
    "7nOXbUAYKFOChhqBSjQL5jLf/UfyF66O17iPNz3PjusHrhej3JHkClEhUy+oxfST\n" \
    "a81yNaRKrs7j4iOwGyO5MF/i8O2XsDZEMJYVBC9P/txEdHnYWS1pxQkjxov7RxNK\n" \
    "OA==\n" \
    "-----END CERTIFICATE-----\n"

#define RSA_KEY \
    "-----BEGIN PRIVATE KEY-----\n" \
    "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDRn7nTZBaQRTWu\n" \
    "aYibaEVoRzxyv5oyD8quE3uSQrL+k5IDe/1tud8lQB0a1EYUvJ31BeEs02aru7l9\n" \
    "5Lf4RFC14nMOF0LQ0stwRJtkCXVQaBY6HYA8w1lpdZIxsbyHhjdPiCwf2wOI9sFr\n" \
    "6A/t2HEekqwoNgQ/NWi5J/Q+CJhJQB3N7y41DX4w1JNAN3F1jwXezWLQiVI5nCYa\n" \
    "BlonXIPjPRk0YCbCmghXusOEP++AckfusDq3llIqeA8EpufRoKgFZMbbDpE+H+tk\n" \
    "Ad/bsYxD1OJ+7qY1iwn+ihyBK2b8XUA0oLDeCo4xO1eiImubkKYILl7At1opHHEI\n" \
    "wB9OyLczAgMBAAECggEAS6y43ep1BtIlZfhtO4UyAUouNVKcLNRsm9kmtA9mJOdL\n" \
    "P/zD6Ze/SehSWXwmbJgHAgyEVLVgjECx3xPxoiuvY2oDlSOqmE5w6O+rlTqg4k0h\n" \
    "MQuzXrw7DApIo64BXH+Eei6zlzBun0RNYVIeZgPMGnhitAWEFPmH+8fDsZ1StKZL\n" \
    "0vNOVygkx3iOIwZAcC7w0iVnxTvb55lCOhVflFVIuscV4+rUI/8Hp3u2k/8q2u7c\n" \
    "lGZtmVb1ubE1uZXtQTqnBIvKnJ9OLsa0i+yv6KQZI+hTxAKtl8KseuEoxHiC/2AV\n" \
    "JBixLk1oXqztvOBXehILZsB/23/0pECMRBJaC0tM8QKBgQD/GgvFYzaS4NQwAy5J\n" \
    "f29Rc0zqtwMhATOLc6/cNvOK1i9rlAuClQIP3RPPrlNr6Oc37LRLWvLzKEOWf9RM\n" \
    "Qtap5lNq2DsbaQdk1MXEzJKqILsNBW7ZM3Jxl2YIA3FobC8YZDueYUlBDOx8K8Kj\n" \
    "88kGgya9XPSv0vAmnnQNlXhACQKBgQDSXK9s0Xdlt5Tm59pzQYQu2hV9GkZZsc0N\n" \
    "REFUtKlHIWBLrhCUkO8W6U74mYm26X09REUUuiyubyVAtZrXS6kFLJLgwxsEirew\n" \
    "uEYo34hMUVTaF105HDEnsQmS6PFjyhGP+uu6q0E8C3CD3MyblFRyE34K2GrQHoWI\n" \
    "I5F7G49UWwKBgQCC0JFutBS9Nwu4XzkyOWYVJ4Iu7pBtMVeEUFvDGm7DKFiC2xUX\n" \
    "7l9zURQisKtYr8M5+2jtJ4NkS6Z1G7H7NV8tGs52ANI2mSJQg4ezBpDDKyugXsPc\n" \
    "H7S1KUUKIPHb8XYpFOU5r3vIHt96QVp7hrz0WPbZrjxPmWTK+QBcIuTaOQKBgB+l\n" \
    "R9Kj9EU+B81wxaEfEwaFUkQ+pqSppcJAKV/XybtknvrjlaTz5LPap0Gov1nf6DJG\n" \
    "SeojU8Nt/vmsGD4ZKLUZjoL3duIJCDcykYNmlTd96LjiWOjVf+OLs3gBSQcNB/VT\n" \
    "9xBe4PJqeiOsHK+u8cEzg3uYMQFcBhSD3UfazoYPAoGBAJ9nwX/VfOBvceN5Hih8\n" \
    "tLLfAP48qwCuIpLp1MwBvPLuSdzZ6a0RDUD0jIq31kQmvgtCZibvsbUXj1hoUmKt\n" \
    "UleyGlmzTeKnlUHc1XdUHLG3i1/GSfcxYy3FH0Qvh0APFfdqhNO9HUyWze8uEe8O\n" \
    "ycG1e453Q/vfGkrhfx9aQFU2\n" \
    "-----END PRIVATE KEY-----\n"

#endif
