/* Certificate and key. */
#include "server/tls.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1024 * 1024)

static char *read_pem(const char *path, char *why, size_t size)
{
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, FILE_MAX + 1) : NULL;
    size_t length = text ? fread(text, 1, FILE_MAX, file) : 0;
    if (file)
        fclose(file);
    if (length > 0 && strstr(text, "-----BEGIN "))
        return text;
    snprintf(why, size, "%s: %s", path, file ? "it is no PEM file" : strerror(errno));
    free(text);
    return NULL;
}

bool tls_is_on(const struct settings *settings)
{
    return *settings->tls_cert || *settings->tls_key;
}

bool tls_load(struct tls *tls, const struct settings *settings, char *why, size_t size)
{
    *tls = (struct tls){0};
    if (!tls_is_on(settings))
        return true;
    if (!*settings->tls_cert || !*settings->tls_key) {
        snprintf(why, size, "--tls-cert and --tls-key go together");
        return false;
    }
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        snprintf(why, size, "this libmicrohttpd was built without TLS");
        return false;
    }
    tls->certificate = read_pem(settings->tls_cert, why, size);
    tls->key = tls->certificate ? read_pem(settings->tls_key, why, size) : NULL;
    if (tls->key)
        return true;
    tls_free(tls);
    return false;
}

void tls_free(struct tls *tls)
{
    if (tls->key)
        explicit_bzero(tls->key, strlen(tls->key));
    free(tls->key);
    free(tls->certificate);
    *tls = (struct tls){0};
}
