/* A request by TLS. */
#include "server/tls/tls_client.h"

#include <gnutls/gnutls.h>
#include <string.h>

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

ptrdiff_t tls_client_ask(int descriptor, const char *request, char *reply, size_t size)
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
