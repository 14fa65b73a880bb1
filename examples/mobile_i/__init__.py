"""Tables of Mobile-I, published beside ours."""
