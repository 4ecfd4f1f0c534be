/* What happens to a request whose body is there: tiny work at once, other work in the pool while the connection waits.
 */
#ifndef SERVER_EXCHANGE_DISPATCH_H
#define SERVER_EXCHANGE_DISPATCH_H

#include <microhttpd.h>

struct exchange;

/* Both return what libmicrohttpd's handler has to. The first ends in a reply or in a suspended connection, the second
 * is for the call after that connection was resumed. */
enum MHD_Result dispatch_start(struct exchange *exchange);
enum MHD_Result dispatch_finish(struct exchange *exchange);

#endif
