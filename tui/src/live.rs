//! What the stream has said, kept as a model of the fleet: counters per host and boot, histograms
//! per second, gauges, hosts, alerts, what people did. Knows no terminal, no socket and no clock.
