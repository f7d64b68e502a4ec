from tests.ui.browser import as_file as as_file
from tests.ui.browser import chromium as chromium
from tests.ui.browser import shelf as shelf
from tests.ui.browser import tab as tab
from tests.ui.browser import tabs as tabs
