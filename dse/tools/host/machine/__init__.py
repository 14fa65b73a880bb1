"""Units of this machine as processes that run parts of models from shared memory."""
