package client

// DecodeFrame is decodeFrame, for tests.
var DecodeFrame = decodeFrame
