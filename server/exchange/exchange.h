/* One request from its head to the end of its reply: libmicrohttpd's callbacks. `service` is the struct service. */
#ifndef SERVER_EXCHANGE_EXCHANGE_H
#define SERVER_EXCHANGE_EXCHANGE_H

#include <microhttpd.h>
#include <stddef.h>

/* For MHD_start_daemon. */
enum MHD_Result exchange_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                                const char *version, const char *data, size_t *size, void **context);

/* For MHD_OPTION_URI_LOG_CALLBACK: a request line has been read. */
void *exchange_note_target(void *service, const char *target, struct MHD_Connection *connection);

/* For MHD_OPTION_NOTIFY_COMPLETED: records and frees. */
void exchange_complete(void *service, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code);

#endif
