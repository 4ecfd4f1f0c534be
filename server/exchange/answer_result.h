/* Replies to POST: what came of a computation. */
#ifndef SERVER_EXCHANGE_ANSWER_RESULT_H
#define SERVER_EXCHANGE_ANSWER_RESULT_H

#include "server/compute/work.h"
#include "server/exchange/answer.h"

/* Sends the result, of which text and job are taken. */
enum MHD_Result answer_result(struct service *service, const struct request *request, struct work_result *result,
                              struct reply *reply);

/* Sends the refusal of work that was given up. */
enum MHD_Result answer_no_result(struct service *service, const struct request *request, enum problem_code reason,
                                 struct reply *reply);

#endif
