def write_page(found, command, results):
    return f"{len(found)} {command}"
