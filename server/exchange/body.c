/* Bodies of requests. */
#include "server/exchange/body.h"

#include "server/service/service.h"

#include <stdint.h>
#include <string.h>

#define ALIGNMENT ((size_t)64)    /* of tensors: what vectors like */
#define SLACK ((size_t)64 * 1024) /* bytes past the limit */

void body_begin(struct body *body, const struct service *service, size_t length, size_t json_length)
{
    bool split = json_length > 0 && json_length < length;
    size_t room = length + (split ? ALIGNMENT : 0);
    body->text = buffer_new(length > 0 ? room : service->settings.max_body);
    if (length == 0 || !buffer_reserve(&body->text, room) || !split)
        return;
    body->lead = (ALIGNMENT - ((uintptr_t)body->text.data + json_length) % ALIGNMENT) % ALIGNMENT;
    memset(body->text.data, ' ', body->lead);
    body->text.length = body->lead;
}

bool body_refuse_size(const struct service *service, struct problem *problem)
{
    size_t limit = service->settings.max_body;
    problem->limit = limit;
    return problem_set(problem, PROBLEM_BODY_TOO_LARGE, "The body has more than %zu bytes, the limit.", limit);
}

bool body_append(struct body *body, struct service *service, const char *data, size_t size, struct problem *problem)
{
    if (body->received > service->settings.max_body)
        return body_refuse_size(service, problem);
    if (!budget_take(&service->held, size))
        return problem_set(problem, PROBLEM_NO_MEMORY, "The %zu bytes for the bodies of all requests are spent.",
                           service->settings.memory);
    body->charged += size;
    buffer_append(&body->text, data, size);
    return !body->text.failed || problem_set(problem, PROBLEM_NO_MEMORY, "There is no memory for the body.");
}

void body_drop(struct body *body, struct service *service)
{
    buffer_free(&body->text);
    budget_give(&service->held, body->charged);
    body->charged = 0;
}

size_t body_enough(const struct service *service)
{
    return service->settings.max_body + SLACK;
}
