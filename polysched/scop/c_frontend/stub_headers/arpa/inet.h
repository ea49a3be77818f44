#ifndef POLYSCHED_ARPA_INET_H
#define POLYSCHED_ARPA_INET_H
#include <stdint.h>
typedef uint32_t in_addr_t;
typedef uint16_t in_port_t;
struct in_addr { in_addr_t s_addr; };
uint32_t htonl(uint32_t);
uint16_t htons(uint16_t);
uint32_t ntohl(uint32_t);
uint16_t ntohs(uint16_t);
in_addr_t inet_addr(const char *);
char *inet_ntoa(struct in_addr);
#endif
