/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs of the machine. */
#ifndef STALLTOP_KERNEL_CPUS_H
#define STALLTOP_KERNEL_CPUS_H

/* Numbers of CPUs go from 0 to below this, also of those that are off or not there yet. */
unsigned cpus_possible(void);

/* The same from a list as the kernel writes it ("0-3,8"); 0 where it is none. */
unsigned cpus_of_list(const char *list);

#endif
