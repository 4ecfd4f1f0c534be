/* Names of requests: taken from the client when they are plain, else made here. */
#ifndef SERVER_HTTP_REQUEST_ID_H
#define SERVER_HTTP_REQUEST_ID_H

#define REQUEST_ID_SIZE 129

/* Writes the client's name (1 to 128 bytes of [A-Za-z0-9._-]) or, when it is another or NULL, a new one. */
void request_id_set(char out[REQUEST_ID_SIZE], const char *sent);

#endif
