"""The library for other programs: an MCP server over one folder (``dse mcp``)."""
