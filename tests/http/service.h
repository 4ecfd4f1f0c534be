/* The program under test as a process of its own, on a free port. Failures are failures of the running test. */
#ifndef TESTS_HTTP_SERVICE_H
#define TESTS_HTTP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct service {
    pid_t pid;
    unsigned port;
    char folder[64]; /* holds port, log and errors */
};

/* Starts $ATTENTIOND with these flags (ends with NULL) on 127.0.0.1 and any free port, and waits until it is ready. */
struct service service_start(const char *const *flags);

/* The same for flags that may say where to listen; port is 0 for a Unix socket. */
struct service service_start_at(const char *const *flags);

/* Asks it to end and waits; its exit status, or -1 when a signal ended it. The folder is removed. */
int service_stop(struct service *service);

void service_signal(const struct service *service, int signal);

/* Waits, seconds at most, for the process to end; its exit status, or -1 when a signal ended it or it did not end. */
int service_wait(struct service *service, double seconds);

/* Removes the folder of a service that has ended. */
void service_clean(struct service *service);

/* The lines that it has logged so far, without one that is not whole yet; to be freed. */
char *service_log(const struct service *service);

/* Waits until the log holds `text` (times `count`), seconds at most. */
bool service_logged(const struct service *service, const char *text, size_t count, double seconds);

/* Runs the program with these flags (ends with NULL) and environment additions (ends with NULL, or NULL) to its end:
 * exit status, what it printed on both streams (to be freed). */
int service_run(const char *const *flags, const char *const *environment, char **out, char **err);

/* Seconds of a clock that only goes forward. */
double service_now(void);

/* A moment between two looks at something that is being waited for. */
void service_pause(void);

#endif
