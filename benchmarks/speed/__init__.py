"""How fast other parts are: closed form, long run, tree search, campaigns."""
