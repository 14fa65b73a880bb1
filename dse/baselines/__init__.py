"""Schedules that other methods construct: GPU only, GPU & DSA, Herald, H2H, Mensa, AxoNN and
TensorRT's rule. One file each."""
