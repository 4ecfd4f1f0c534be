/* Certificate and key. */
#include "server/tls/tls_certificate.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1024 * 1024)

struct tls_certificate {
    gnutls_certificate_credentials_t credentials;
    atomic_int holders;
};

bool tls_certificate_wanted(const struct settings *settings)
{
    return *settings->tls_cert || *settings->tls_key;
}

static bool fail(char *why, size_t size, const char *path, const char *reason)
{
    snprintf(why, size, "%s: %s", path, reason);
    return false;
}

static bool read_file(const char *path, gnutls_datum_t *text, char *why, size_t size)
{
    FILE *file = fopen(path, "re");
    text->data = file ? calloc(1, FILE_MAX) : NULL;
    text->size = text->data ? (unsigned)fread(text->data, 1, FILE_MAX, file) : 0;
    if (!text->data || ferror(file))
        fail(why, size, path, strerror(errno));
    else if (text->size == 0 || text->size == FILE_MAX)
        fail(why, size, path, "it is no PEM file");
    else
        *why = '\0';
    if (file)
        fclose(file);
    return *why == '\0';
}

static void forget(gnutls_datum_t *text)
{
    if (text->data)
        explicit_bzero(text->data, text->size);
    free(text->data);
}

/* The two as they were read; GnuTLS copies them into credentials. */
struct pair {
    gnutls_x509_crt_t *chain;
    unsigned length;
    gnutls_x509_privkey_t key;
};

static void free_pair(struct pair *pair)
{
    for (unsigned i = 0; i < pair->length; i++)
        gnutls_x509_crt_deinit(pair->chain[i]);
    gnutls_free(pair->chain);
    if (pair->key)
        gnutls_x509_privkey_deinit(pair->key);
}

static bool read_chain(struct pair *pair, const char *path, char *why, size_t size)
{
    gnutls_datum_t text = {0};
    bool good = read_file(path, &text, why, size);
    int code = good ? gnutls_x509_crt_list_import2(&pair->chain, &pair->length, &text, GNUTLS_X509_FMT_PEM, 0) : 0;
    forget(&text);
    return code < 0 ? fail(why, size, path, gnutls_strerror(code)) : good;
}

static bool read_key(struct pair *pair, const char *path, char *why, size_t size)
{
    gnutls_datum_t text = {0};
    bool good = read_file(path, &text, why, size) && gnutls_x509_privkey_init(&pair->key) >= 0;
    int code = good ? gnutls_x509_privkey_import2(pair->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0) : 0;
    forget(&text);
    return code < 0 ? fail(why, size, path, gnutls_strerror(code)) : good;
}

/* GnuTLS compares the two when it takes them. */
static bool take_pair(struct tls_certificate *certificate, const struct pair *pair, const struct settings *settings,
                      char *why, size_t size)
{
    int code = gnutls_certificate_allocate_credentials(&certificate->credentials);
    if (code >= 0)
        code = gnutls_certificate_set_x509_key(certificate->credentials, pair->chain, (int)pair->length, pair->key);
    if (code >= 0)
        return true;
    snprintf(why, size, "%s and %s do not fit together: %s", settings->tls_cert, settings->tls_key,
             gnutls_strerror(code));
    return false;
}

static struct tls_certificate *make_empty(char *why, size_t size)
{
    struct tls_certificate *certificate = calloc(1, sizeof *certificate);
    if (certificate)
        atomic_init(&certificate->holders, 1);
    else
        snprintf(why, size, "there is no memory for the certificate");
    return certificate;
}

struct tls_certificate *tls_certificate_load(const struct settings *settings, char *why, size_t size)
{
    struct pair pair = {0};
    if (!*settings->tls_cert || !*settings->tls_key) {
        snprintf(why, size, "--tls-cert and --tls-key go together");
        return NULL;
    }
    struct tls_certificate *certificate = make_empty(why, size);
    bool good = certificate && read_chain(&pair, settings->tls_cert, why, size) &&
                read_key(&pair, settings->tls_key, why, size) && take_pair(certificate, &pair, settings, why, size);
    free_pair(&pair);
    if (good)
        return certificate;
    tls_certificate_release(certificate);
    return NULL;
}

struct tls_certificate *tls_certificate_hold(struct tls_certificate *certificate)
{
    atomic_fetch_add(&certificate->holders, 1);
    return certificate;
}

void tls_certificate_release(struct tls_certificate *certificate)
{
    if (!certificate || atomic_fetch_sub(&certificate->holders, 1) > 1)
        return;
    if (certificate->credentials)
        gnutls_certificate_free_credentials(certificate->credentials);
    free(certificate);
}

bool tls_certificate_show(const struct tls_certificate *certificate, gnutls_session_t session)
{
    return gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, certificate->credentials) >= 0;
}
