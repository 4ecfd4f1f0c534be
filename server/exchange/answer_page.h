/* Replies to GET and OPTIONS. */
#ifndef SERVER_EXCHANGE_ANSWER_PAGE_H
#define SERVER_EXCHANGE_ANSWER_PAGE_H

#include "server/exchange/answer.h"

/* Sends the page that an admitted request asks for, or for OPTIONS the methods. */
enum MHD_Result answer_page(struct service *service, const struct request *request, struct reply *reply);

#endif
