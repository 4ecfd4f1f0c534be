/* Telling systemd how we are: a datagram to the socket that it names (sd_notify's protocol). */
#ifndef SERVER_RUN_SYSTEMD_NOTIFY_H
#define SERVER_RUN_SYSTEMD_NOTIFY_H

/* Sends "READY=1" or the like; does nothing when nobody asked for it. */
void systemd_notify(const char *state);

#endif
