/* Bytes on a connection: whatever comes, the service answers like HTTP or not at all, never with a 500, and answers the
 * next connection as ever. The first byte says in how large pieces the rest is sent. */
#include "server/listen/connections.h"
#include "server/listen/reaper.h"
#include "server/run/server.h"
#include "server/run/signals.h"
#include "server/watch/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MILLISECONDS 20000
#define SILENCE_MILLISECONDS 2 /* after which nothing more is expected */
#define REPLY_MAX ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct server server;

static void demand(bool held)
{
    if (!held)
        abort();
}

static void start(void)
{
    char *flags[] = {"attentiond", "--port",         "0",     "--workers",   "1",    "--max-body",
                     "64K",        "--max-elements", "10000", "--log-level", "error"};
    char *environment[] = {NULL};
    char why[256];
    struct settings settings;
    struct log *log = log_start(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_JSON, LOG_ERROR);
    demand(signals_install() && log &&
           settings_read(&settings, (int)(sizeof flags / sizeof *flags), flags, environment, why, sizeof why));
    demand(server_start(&server, &settings, log));
}

/* The far end of a connection that libmicrohttpd has taken. */
static int connect_inside(void)
{
    int ends[2];
    const struct sockaddr_un address = {.sun_family = AF_UNIX};
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    struct connection *connection =
        connections_add(server.service.connections, ends[0], (const struct sockaddr *)&address, false);
    demand(connection && connections_hand_over(connection, ends[0], (const struct sockaddr *)&address, sizeof address));
    return ends[1];
}

/* Whether something can be read within so many milliseconds. libFuzzer's timer interrupts: what is left is waited. */
static bool await(int descriptor, int silence)
{
    struct pollfd poller = {.fd = descriptor, .events = POLLIN};
    int64_t end = clock_now() + (int64_t)silence * 1000000;
    for (;;) {
        int ready = poll(&poller, 1, silence);
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
        silence = (int)((end - clock_now()) / 1000000);
        silence = silence < 0 ? 0 : silence;
    }
}

static ssize_t take(int descriptor, char *room, size_t size)
{
    ssize_t got = 0;
    do
        got = recv(descriptor, room, size, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Takes what comes until the end or a silence; how many bytes. */
static size_t receive(int descriptor, char *reply, int silence)
{
    size_t length = 0;
    ssize_t got = 1;
    while (length < REPLY_MAX && got > 0 && await(descriptor, silence)) {
        got = take(descriptor, reply + length, REPLY_MAX - length);
        length += got > 0 ? (size_t)got : 0;
    }
    reply[length] = '\0';
    return length;
}

static void send_pieces(int descriptor, const uint8_t *data, size_t size, size_t piece)
{
    while (size > 0) {
        size_t count = size < piece ? size : piece;
        ssize_t sent = send(descriptor, data, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        data += sent;
        size -= (size_t)sent;
    }
}

static void check_alive(char *reply)
{
    static const char probe[] = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    int descriptor = connect_inside();
    send_pieces(descriptor, (const uint8_t *)probe, sizeof probe - 1, sizeof probe);
    receive(descriptor, reply, PATIENCE_MILLISECONDS);
    close(descriptor);
    demand(strncmp(reply, "HTTP/1.1 200 ", 13) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char reply[REPLY_MAX + 1];
    if (size < 2)
        return 0;
    if (!server.daemon)
        start();
    int descriptor = connect_inside();
    send_pieces(descriptor, data + 1, size - 1, data[0] ? data[0] : size);
    size_t length = receive(descriptor, reply, SILENCE_MILLISECONDS);
    close(descriptor);
    demand(length == 0 || strncmp(reply, "HTTP/1.1 ", 9) == 0);
    /* at the start or after a body of ours, which ends with a newline and has none inside its texts */
    demand(strncmp(reply, "HTTP/1.1 500 ", 13) != 0 && !strstr(reply, "\nHTTP/1.1 500 "));
    check_alive(reply);
    reaper_run(server.service.connections);
    return 0;
}
