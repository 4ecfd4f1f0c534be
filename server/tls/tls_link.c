/* Plain bytes from and to TLS. */
#include "server/tls/tls_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 16 /* records in each direction before others get their turn */

enum way {
    WAY_OPEN,
    WAY_CLOSING, /* from the client: what comes is dropped; to the client: the farewell is being sent */
    WAY_CLOSED,
};

struct tls_link {
    struct tls_certificate *certificate;
    gnutls_session_t session; /* NULL: no byte has come */
    int watcher;
    void *mark;
    int outer; /* to the client, encrypted */
    int inner; /* to HTTP, plain; -1: not yet */
    bool shaken, failed;
    enum way up, down; /* from the client, to the client */
    bool sending;      /* GnuTLS has still to send a record that it was given */
    char *held;        /* from the client, for which the inner socket had no room; NULL: nothing */
    size_t held_offset, held_length;
    atomic_bool busy;
};

/* What a piece of a run came to. */
enum progress { PROGRESS_MADE, PROGRESS_NONE };

static bool watch(struct tls_link *link, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = link->mark};
    return epoll_ctl(link->watcher, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

struct tls_link *tls_link_new(int descriptor)
{
    const int on = 1;
    struct tls_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->outer = descriptor;
    link->inner = -1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a Unix socket has none */
    return link;
}

void tls_link_free(struct tls_link *link)
{
    if (link->session)
        gnutls_deinit(link->session);
    tls_certificate_release(link->certificate);
    if (link->inner >= 0)
        close(link->inner);
    close(link->outer);
    free(link->held);
    free(link);
}

bool tls_link_watch(struct tls_link *link, int watcher, void *mark)
{
    link->watcher = watcher;
    link->mark = mark;
    return watch(link, link->outer);
}

bool tls_link_busy(const struct tls_link *link)
{
    return atomic_load(&link->busy);
}

static enum progress fail(struct tls_link *link)
{
    link->failed = true;
    return PROGRESS_NONE;
}

static bool is_waiting(ssize_t result)
{
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static bool set_protocols(gnutls_session_t session)
{
    char newer[] = "http/1.1";
    char older[] = "http/1.0";
    const gnutls_datum_t names[] = {{(unsigned char *)newer, sizeof newer - 1},
                                    {(unsigned char *)older, sizeof older - 1}};
    return gnutls_alpn_set_protocols(session, names, 2, 0) >= 0;
}

static bool begin_session(struct tls_link *link, const struct tls_link_means *means)
{
    if (gnutls_init(&link->session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0)
        return false;
    link->certificate = tls_certificate_hold(means->certificate);
    gnutls_transport_set_int(link->session, link->outer);
    gnutls_handshake_set_timeout(link->session, GNUTLS_INDEFINITE_TIMEOUT); /* whoever owns the connection has one */
    return gnutls_priority_set(link->session, means->priorities) >= 0 &&
           tls_certificate_show(link->certificate, link->session) && set_protocols(link->session);
}

/* A connection costs nothing before its first byte. */
static enum progress await_byte(struct tls_link *link, const struct tls_link_means *means)
{
    char byte;
    ssize_t got = recv(link->outer, &byte, 1, MSG_PEEK);
    if (is_waiting(got))
        return PROGRESS_NONE;
    if (got <= 0 || !begin_session(link, means))
        return fail(link);
    return PROGRESS_MADE;
}

static enum progress shake_hands(struct tls_link *link)
{
    int code = gnutls_handshake(link->session);
    if (code == GNUTLS_E_AGAIN)
        return PROGRESS_NONE;
    link->shaken = code >= 0;
    if (link->shaken) /* some clients wait for this before they ask, and nothing is sent that would bring it along */
        setsockopt(link->outer, IPPROTO_TCP, TCP_QUICKACK, &(const int){1}, sizeof(int));
    if (code >= 0 || !gnutls_error_is_fatal(code))
        return PROGRESS_MADE;
    gnutls_alert_send_appropriate(link->session, code);
    return fail(link);
}

static bool open_inner(struct tls_link *link, const struct tls_link_means *means)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    link->inner = pair[0];
    if (watch(link, pair[0]))
        return means->open(means->connection, pair[1]);
    close(pair[1]);
    return false;
}

static void end_up(struct tls_link *link)
{
    link->up = WAY_CLOSED;
    if (link->inner >= 0)
        shutdown(link->inner, SHUT_WR);
    else
        link->failed = true; /* it never asked for anything */
}

/* Sends what the inner socket takes; how much. What is no longer wanted counts: it is still read, for the client might
 * lose the reply otherwise. */
static size_t send_inner(struct tls_link *link, const char *bytes, size_t length)
{
    ssize_t sent = send(link->inner, bytes, length, MSG_NOSIGNAL);
    if (sent >= 0)
        return (size_t)sent;
    if (is_waiting(sent))
        return 0;
    link->up = WAY_CLOSING;
    return length;
}

static enum progress send_held(struct tls_link *link)
{
    size_t sent = send_inner(link, link->held + link->held_offset, link->held_length - link->held_offset);
    link->held_offset += sent;
    if (link->held_offset == link->held_length) {
        free(link->held);
        link->held = NULL;
    }
    return sent > 0 ? PROGRESS_MADE : PROGRESS_NONE;
}

static enum progress hold(struct tls_link *link, const char *bytes, size_t length)
{
    link->held = malloc(length);
    if (!link->held)
        return fail(link);
    memcpy(link->held, bytes, length);
    link->held_offset = 0;
    link->held_length = length;
    return PROGRESS_MADE;
}

static enum progress carry_up(struct tls_link *link, const struct tls_link_means *means)
{
    if (link->held)
        return send_held(link);
    if (link->up == WAY_CLOSED)
        return PROGRESS_NONE;
    ssize_t got = gnutls_record_recv(link->session, means->room, TLS_LINK_RECORD);
    if (got == GNUTLS_E_AGAIN)
        return PROGRESS_NONE;
    if (got == 0 || got == GNUTLS_E_PREMATURE_TERMINATION)
        end_up(link);
    else if (got == GNUTLS_E_REHANDSHAKE || (got < 0 && gnutls_error_is_fatal((int)got)))
        return fail(link);
    if (got <= 0 || link->up == WAY_CLOSING)
        return PROGRESS_MADE;
    if (link->inner < 0 && !open_inner(link, means))
        return fail(link);
    size_t sent = send_inner(link, means->room, (size_t)got);
    return sent == (size_t)got ? PROGRESS_MADE : hold(link, means->room + sent, (size_t)got - sent);
}

static enum progress say_farewell(struct tls_link *link)
{
    int code = gnutls_bye(link->session, GNUTLS_SHUT_WR);
    if (code == GNUTLS_E_AGAIN)
        return PROGRESS_NONE;
    link->down = WAY_CLOSED;
    shutdown(link->outer, SHUT_WR);
    return PROGRESS_MADE;
}

/* GnuTLS encrypts what it is given even when it cannot send it: the bytes stay in the inner socket until it could. */
static enum progress send_record(struct tls_link *link, size_t length, const struct tls_link_means *means)
{
    ssize_t sent = gnutls_record_send(link->session, length > 0 ? means->room : NULL, length);
    link->sending = sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED;
    if (link->sending)
        return PROGRESS_NONE;
    if (sent < 0 || recv(link->inner, means->room, (size_t)sent, 0) != sent)
        return fail(link);
    return PROGRESS_MADE;
}

static enum progress carry_down(struct tls_link *link, const struct tls_link_means *means)
{
    if (link->sending)
        return send_record(link, 0, means);
    if (link->down == WAY_CLOSING)
        return say_farewell(link);
    if (link->down == WAY_CLOSED || link->inner < 0)
        return PROGRESS_NONE;
    ssize_t got = recv(link->inner, means->room, TLS_LINK_RECORD, MSG_PEEK);
    if (is_waiting(got))
        return PROGRESS_NONE;
    if (got > 0)
        return send_record(link, (size_t)got, means);
    link->down = WAY_CLOSING;
    return PROGRESS_MADE;
}

static enum progress run_once(struct tls_link *link, const struct tls_link_means *means)
{
    if (!link->session)
        return await_byte(link, means);
    if (!link->shaken)
        return shake_hands(link);
    enum progress up = carry_up(link, means);
    if (link->failed)
        return PROGRESS_NONE;
    enum progress down = carry_down(link, means);
    return up == PROGRESS_MADE || down == PROGRESS_MADE ? PROGRESS_MADE : PROGRESS_NONE;
}

static bool has_ended(const struct tls_link *link)
{
    return link->failed || (link->up == WAY_CLOSED && link->down == WAY_CLOSED);
}

enum tls_link_state tls_link_run(struct tls_link *link, const struct tls_link_means *means)
{
    enum progress progress = PROGRESS_MADE;
    atomic_store(&link->busy, true);
    for (size_t i = 0; i < ROUNDS && progress == PROGRESS_MADE && !has_ended(link); i++)
        progress = run_once(link, means);
    if (has_ended(link))
        return TLS_LINK_ENDED;
    if (progress == PROGRESS_MADE)
        return TLS_LINK_GOES_ON;
    atomic_store(&link->busy, link->held || link->sending || link->down == WAY_CLOSING);
    return TLS_LINK_WAITS;
}
