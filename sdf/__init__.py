"""What is to be run: dataflow graphs of networks, their import, analysis and grouping."""
