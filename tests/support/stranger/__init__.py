"""A second reading of docs/concepts: checks trees and bounds from the files alone, in standard
Python, by recursion on JSON documents. It imports nothing of the program."""
