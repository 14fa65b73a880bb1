"""The cost model of a platform: roofline, fusion, supported layers, frequency scaling, power."""
