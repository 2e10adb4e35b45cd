"""What several kinds of bench share: the running product, labelled scenes, cameras, figures."""
