/** A key pair of age for the golden archive alone; it protects nothing. */
export const recipient = 'age14gassxrmp0qpsd5nxmpjxnj7arl9eztepvmlgs4ra2ke6s0dg4dqatj5dc'
export const identity = 'AGE-SECRET-KEY-1YT6AGCUWVA0RYY9D35KWKR0DFZR0PQC0UY9CTUH25AKCNZT3ERPQ3NMCXZ'
