"""Run-time resource managers that MapFormer compares with: MOSAIC, ODMDEF, the GA of Kang et al."""
