//! Server-sent events: the encoder and the decoder (WHATWG HTML, "Server-sent events").
