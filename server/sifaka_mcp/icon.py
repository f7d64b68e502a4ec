"""The icon that hosts show for the server; `python -m distribution.icon` draws it."""

SIZE = "48x48"
ICON = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwBAMAAAClLOS0AAAAHlBMVEUfKismJiwnTEQvb16JjIiMbi+NiomRr6Lytj"
    "L07+Y6JS8hAAABPklEQVR42sWUPW/CMBCGT7RLRw+1yIbKH0DJYGXrysiA1JXFEnOGKCNDpYxEIKL8W3wfPjtUrTq1"
    "rwTx3ZO78zm5QPWN4P/BW/i5NqgRg0EJsKjaidRWK4C1AAjaTqIrWgzK3M9kTWAD8Dxlegd4IrCaBVDIQsAsAEMi2M"
    "7BNYKHgBDCYPPyCM5cvJRMN++Pkou3W7HlTZDnNTfo+H5D4piGQE1rIyLjksBg9ujemyKBDpeHZf9pzEd/smiNCm6m"
    "7/vda/ijKgkM6DstkRYzcEjA/hKkGnNgTNwVdZKD2EcG6qxv6f3yM3BUXGX1ECsBVi9y7Fh9CJ5CL6OAmp+GgCOVIO"
    "C4uqTiEvy2d5JdSow6Bk6fLGVq0nx0uuEYIMDlL0OTjxqSEGPVrzOIJ+n9FBNlw6mj9nVqcTj/9stwB/cBZSHPF/Hi"
    "AAAAAElFTkSuQmCC"
)
"""A URI that holds the picture: nothing has to be fetched for it."""
