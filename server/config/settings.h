/* What the operator decides: every setting once, in one table, from which parsing, help and reports come. */
#ifndef SERVER_CONFIG_SETTINGS_H
#define SERVER_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SETTINGS_LIST_MAX 16

/* X(field, "flag", KIND, "default", least, most, "help"). The environment twin of --max-body is ATTND_MAX_BODY.
 * TEXT any string; COUNT a whole number; SIZE bytes with K, M or G, or auto (0) where that is the default; SECONDS and
 * RATE (per second) may have a fraction; PLACE an address with a port; SWITCH true or false; LIST origins, FRAMES
 * origins of frames, NETWORKS networks, commas between them; FORMAT, LEVEL, COMPRESSION words; least and most bound the
 * numbers. */
#define SETTINGS(X) \
    X(listen, "listen", TEXT, "127.0.0.1", 0, 0, \
      "address to listen on: a name, a number, * for all of IPv4 and IPv6, or unix:PATH") \
    X(port, "port", COUNT, "8080", 0, 65535, "port to listen on; 0 takes any free one") \
    X(port_file, "port-file", TEXT, "", 0, 0, "write the port to this file when the service is ready") \
    X(workers, "workers", COUNT, "0", 0, 64, "computing threads; 0 takes as many as the CPU quota allows") \
    X(pin_workers, "pin-workers", SWITCH, "false", 0, 0, \
      "keep each worker on a processor of its own, where there are as many; for machines with nothing else to do") \
    X(queue, "queue", COUNT, "256", 1, 65536, "requests that may wait for a worker; more get 503") \
    X(max_connections, "max-connections", COUNT, "1000", 1, 100000, "open connections; more get 503") \
    X(max_client_connections, "max-client-connections", COUNT, "0", 0, 100000, \
      "open connections of one address; more get 503; 0: any number") \
    X(rate_limit, "rate-limit", RATE, "0", 0, 1e6, "requests a second of one address; more get 429; 0: any number") \
    X(rate_burst, "rate-burst", COUNT, "20", 1, 1000000, "requests of one address at once before --rate-limit counts") \
    X(trusted_proxy, "trusted-proxy", NETWORKS, "", 0, 0, \
      "network (CIDR) or address of proxies whose X-Forwarded-For names the client, or unix; may be repeated") \
    X(api_key_file, "api-key-file", TEXT, "", 0, 0, \
      "file with the keys that clients must show, one a line; read again on SIGHUP") \
    X(tls_cert, "tls-cert", TEXT, "", 0, 0, \
      "file with the certificate (and its chain), PEM; serves HTTPS; with --tls-key; both are read again on SIGHUP") \
    X(tls_key, "tls-key", TEXT, "", 0, 0, "file with the certificate's key, PEM") \
    X(max_body, "max-body", SIZE, "64M", 1, 1e12, "bytes of a request body; never more than --memory") \
    X(max_header, "max-header", SIZE, "12K", 256, 32768, "bytes of a request's header fields") \
    X(max_elements, "max-elements", COUNT, "67108864", 1, 1e12, "numbers in the tensors of one request") \
    X(max_reply_elements, "max-reply-elements", COUNT, "268435456", 1, 1e12, "numbers in one reply") \
    X(max_flops, "max-flops", COUNT, "10000000000000", 1, 1e18, \
      "floating-point operations of one request, counted as \"cost\" does") \
    X(request_memory, "request-memory", SIZE, "auto", 65536, 1e15, \
      "bytes that one request may hold; auto: each worker's share of what the container or machine has, up to 1G") \
    X(memory, "memory", SIZE, "auto", 65536, 1e15, \
      "bytes that bodies and replies under way may hold together; more get 503; auto: a share as well, up to 2G") \
    X(header_timeout, "header-timeout", SECONDS, "10", 0.1, 3600, "seconds for a whole request head") \
    X(body_timeout, "body-timeout", SECONDS, "60", 0.1, 86400, "seconds for a whole request body") \
    X(idle_timeout, "idle-timeout", SECONDS, "75", 0.1, 86400, "seconds that an idle connection is kept") \
    X(write_timeout, "write-timeout", SECONDS, "30", 0.1, 86400, "seconds for a client to take each part of a reply") \
    X(deadline, "deadline", SECONDS, "30", 0.05, 86400, "seconds from a whole request to its reply; then 503") \
    X(shutdown_delay, "shutdown-delay", SECONDS, "0", 0, 3600, "seconds to go on accepting after SIGTERM") \
    X(drain_timeout, "drain-timeout", SECONDS, "25", 0, 3600, "seconds that running requests get after SIGTERM") \
    X(compression, "compression", COMPRESSION, "all", 0, 0, \
      "codings of replies: all (zstd or gzip, as Accept-Encoding wishes), gzip or none") \
    X(cors_origin, "cors-origin", LIST, "*", 0, 0, \
      "origin whose pages may read replies, \"*\" for all; may be repeated") \
    X(frame_ancestor, "frame-ancestor", FRAMES, "*", 0, 0, \
      "origin whose pages may show the explorer in a frame, self, none, or \"*\" for all; may be repeated") \
    X(no_cors, "no-cors", SWITCH, "false", 0, 0, "send no CORS headers at all") \
    X(no_metrics, "no-metrics", SWITCH, "false", 0, 0, "do not serve /metrics") \
    X(metrics_listen, "metrics-listen", PLACE, "", 0, 0, \
      "where /metrics is, and then only there: a port, or unix:PATH; the probes are there too") \
    X(log_format, "log-format", FORMAT, "json", 0, 0, "json or text") \
    X(log_level, "log-level", LEVEL, "info", 0, 0, "debug, info, warn or error") \
    X(allow_vulnerable_libmicrohttpd, "allow-vulnerable-libmicrohttpd", SWITCH, "false", 0, 0, \
      "serve other machines even with libmicrohttpd 1.0.0 to 1.0.9")

/* X(ACTION, "flag", "help"): what to do instead of serving. */
#define SETTINGS_ACTIONS(X) \
    X(HELP, "help", "print this and exit") \
    X(VERSION, "version", "print the versions and exit") \
    X(CHECK_CONFIG, "check-config", "check settings and the files they name; exit 0 or 2") \
    X(PRINT_CONFIG, "print-config", "print the settings in force and where each comes from") \
    X(PRINT_OPENAPI, "print-openapi", "print what GET /openapi.json answers") \
    X(HEALTHCHECK, "healthcheck", "ask the service on the configured port whether it is ready; exit 0 or 1")

enum settings_kind {
    SETTINGS_TEXT,
    SETTINGS_COUNT,
    SETTINGS_SIZE,
    SETTINGS_SECONDS,
    SETTINGS_RATE,
    SETTINGS_SWITCH,
    SETTINGS_PLACE,
    SETTINGS_LIST,
    SETTINGS_FRAMES,
    SETTINGS_NETWORKS,
    SETTINGS_FORMAT,
    SETTINGS_LEVEL,
    SETTINGS_COMPRESSION,
};

enum settings_compression { SETTINGS_COMPRESS_NONE, SETTINGS_COMPRESS_GZIP, SETTINGS_COMPRESS_ALL };

enum settings_action {
    SETTINGS_SERVE,
#define SETTINGS_ACTION(name, flag, help) SETTINGS_##name,
    SETTINGS_ACTIONS(SETTINGS_ACTION)
#undef SETTINGS_ACTION
};

enum settings_source { SETTINGS_FROM_DEFAULT, SETTINGS_FROM_ENVIRONMENT, SETTINGS_FROM_FLAG };

/* Every text may hold several words with commas between them. */
struct settings_list {
    size_t count;
    const char *texts[SETTINGS_LIST_MAX];
};

typedef const char *settings_TEXT;
typedef size_t settings_COUNT;
typedef size_t settings_SIZE;
typedef double settings_SECONDS;
typedef double settings_RATE;
typedef bool settings_SWITCH;
typedef const char *settings_PLACE;
typedef struct settings_list settings_LIST;
typedef struct settings_list settings_FRAMES;
typedef struct settings_list settings_NETWORKS;
typedef int settings_FORMAT;
typedef int settings_LEVEL;
typedef enum settings_compression settings_COMPRESSION;

struct settings {
#define SETTINGS_FIELD(field, flag, kind, initial, least, most, help) settings_##kind field;
    SETTINGS(SETTINGS_FIELD)
#undef SETTINGS_FIELD
#define SETTINGS_SOURCE(field, flag, kind, initial, least, most, help) enum settings_source field##_source;
    SETTINGS(SETTINGS_SOURCE)
#undef SETTINGS_SOURCE
    enum settings_action action;
};

/* One row of the table. */
struct setting {
    const char *flag;
    enum settings_kind kind;
    const char *initial;
    double least, most;
    const char *help;
    size_t offset, source_offset; /* in struct settings */
};

/* Row `index`, or NULL past the last. */
const struct setting *settings_row(size_t index);

/* "ATTND_MAX_BODY" for --max-body; returns out. */
char *settings_variable(const struct setting *row, char *out, size_t size);

/* "none", "gzip" or "all". */
const char *settings_compression_name(enum settings_compression most);

/* The value as text, as --help and reports print it; returns out. */
char *settings_value(const struct settings *settings, const struct setting *row, char *out, size_t size);

bool settings_list_has(const struct settings_list *list, const char *word);

/* Defaults, then the environment ("NAME=value", ends with NULL; an empty value counts as unset), then flags. Texts stay
 * the caller's. false: why not is in `why`. */
bool settings_read(struct settings *settings, int argc, char **argv, char **environment, char *why, size_t size);

#endif
