/* Certificate and key. */
#include "server/listen/tls.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"
#define FILE_MAX ((size_t)1024 * 1024)

struct pair {
    gnutls_x509_crt_t *chain;
    unsigned length;
    gnutls_x509_privkey_t key;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pair served;

static void free_pair(struct pair *pair)
{
    for (unsigned i = 0; i < pair->length; i++)
        gnutls_x509_crt_deinit(pair->chain[i]);
    gnutls_free(pair->chain);
    if (pair->key)
        gnutls_x509_privkey_deinit(pair->key);
    *pair = (struct pair){0};
}

static void free_copies(gnutls_pcert_st *copies, unsigned count)
{
    for (unsigned i = 0; copies && i < count; i++)
        gnutls_pcert_deinit(&copies[i]);
    gnutls_free(copies);
}

static gnutls_pcert_st *copy_chain(const struct pair *pair)
{
    gnutls_pcert_st *copies = gnutls_calloc(pair->length, sizeof *copies);
    for (unsigned i = 0; copies && i < pair->length; i++)
        if (gnutls_pcert_import_x509(&copies[i], pair->chain[i], 0) < 0) {
            free_copies(copies, i);
            return NULL;
        }
    return copies;
}

static gnutls_privkey_t copy_key(const struct pair *pair)
{
    gnutls_privkey_t copy = NULL;
    if (gnutls_privkey_init(&copy) < 0)
        return NULL;
    if (gnutls_privkey_import_x509(copy, pair->key, GNUTLS_PRIVKEY_IMPORT_COPY) >= 0)
        return copy;
    gnutls_privkey_deinit(copy);
    return NULL;
}

/* Each handshake gets copies that GnuTLS frees with it, so the pair may be exchanged at any time. */
static gnutls_certificate_retrieve_function3 retrieve;

static int retrieve(gnutls_session_t session, const struct gnutls_cert_retr_st *request, gnutls_pcert_st **certificates,
                    unsigned *length, gnutls_ocsp_data_st **ocsp, unsigned *ocsp_length, gnutls_privkey_t *key,
                    unsigned *flags)
{
    (void)session;
    (void)request;
    pthread_mutex_lock(&mutex);
    *certificates = copy_chain(&served);
    *length = served.length;
    *key = *certificates ? copy_key(&served) : NULL;
    pthread_mutex_unlock(&mutex);
    *ocsp = NULL;
    *ocsp_length = 0;
    *flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    if (*key)
        return 0;
    free_copies(*certificates, *length);
    return -1;
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

/* GnuTLS compares the two when it takes them into credentials. */
static bool check_pair(const struct pair *pair, const struct settings *settings, char *why, size_t size)
{
    gnutls_certificate_credentials_t trial = NULL;
    int code = gnutls_certificate_allocate_credentials(&trial);
    if (code >= 0)
        code = gnutls_certificate_set_x509_key(trial, pair->chain, (int)pair->length, pair->key);
    if (trial)
        gnutls_certificate_free_credentials(trial);
    if (code >= 0)
        return true;
    snprintf(why, size, "%s and %s do not fit together: %s", settings->tls_cert, settings->tls_key,
             gnutls_strerror(code));
    return false;
}

static void serve(struct pair pair)
{
    pthread_mutex_lock(&mutex);
    struct pair before = served;
    served = pair;
    pthread_mutex_unlock(&mutex);
    free_pair(&before);
}

bool tls_is_on(const struct settings *settings)
{
    return *settings->tls_cert || *settings->tls_key;
}

bool tls_load(const struct settings *settings, char *why, size_t size)
{
    struct pair pair = {0};
    if (!tls_is_on(settings))
        return true;
    if (!*settings->tls_cert || !*settings->tls_key) {
        snprintf(why, size, "--tls-cert and --tls-key go together");
        return false;
    }
    if (MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK2) != MHD_YES) {
        snprintf(why, size, "this libmicrohttpd was built without TLS");
        return false;
    }
    bool good = read_chain(&pair, settings->tls_cert, why, size) && read_key(&pair, settings->tls_key, why, size) &&
                check_pair(&pair, settings, why, size);
    if (good)
        serve(pair);
    else
        free_pair(&pair);
    return good;
}

void tls_unload(void)
{
    serve((struct pair){0});
}

void tls_set_options(const struct settings *settings, struct MHD_OptionItem list[TLS_OPTIONS])
{
    if (tls_is_on(settings)) {
        *list++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)retrieve};
        *list++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)(uintptr_t)PRIORITIES};
    }
    *list = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

static ptrdiff_t ask(gnutls_session_t session, const char *request, char *reply, size_t size)
{
    size_t got = 0;
    ssize_t count = -1;
    int code = 0;
    do
        code = gnutls_handshake(session);
    while (code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(code));
    if (code < 0 || gnutls_record_send(session, request, strlen(request)) != (ssize_t)strlen(request))
        return -1;
    while (got < size && (count = gnutls_record_recv(session, reply + got, size - got)) > 0)
        got += (size_t)count;
    return (ptrdiff_t)got;
}

ptrdiff_t tls_ask(int descriptor, const char *request, char *reply, size_t size)
{
    gnutls_session_t session = NULL;
    gnutls_certificate_credentials_t nothing = NULL;
    ptrdiff_t got = -1;
    if (gnutls_init(&session, GNUTLS_CLIENT) >= 0 && gnutls_certificate_allocate_credentials(&nothing) >= 0 &&
        gnutls_set_default_priority(session) >= 0 &&
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nothing) >= 0) {
        gnutls_transport_set_int(session, descriptor);
        got = ask(session, request, reply, size);
    }
    if (session)
        gnutls_deinit(session);
    if (nothing)
        gnutls_certificate_free_credentials(nothing);
    return got;
}
