//! The way to the hosts: the live stream as messages that survive the host going away and coming
//! back, and single questions to the admin API. Knows nothing of what is drawn.
